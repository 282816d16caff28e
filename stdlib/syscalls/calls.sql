-- System calls: one row for each that is seen to begin, with the exit that is the thread's next event of this kind. A call has no duration if that is another entry, so that its exit was lost, or if there is none; exits of calls that began before the trace are left out. Numbers become names by `syscalls.architecture`; of a call that the trace has both by number and by name, the named one counts.
-- formats: *
-- column _ts: when it was called
-- column _duration: how long it took, NULL if its end is not known
-- column tid: the thread, or if events do not tell: what the CPU ran
-- column pid: its process, if the trace tells
-- column comm: its name, if the trace tells
-- column name: the call, without `sys_`; `NR 7` if only the number is known
-- column number: its number, if the trace tells
-- column ret: what it returned, NULL if that is not known
-- column failed: whether it returned an error, as -4095 to -1 are
-- column args: its arguments as the trace has them: an object of those that have names, or the list of numbers
-- column line: the event's number in the trace
WITH results AS (
  SELECT *, CASE WHEN ended THEN CASE
      WHEN next_ret LIKE '0x%' THEN CASE
        WHEN TRY_CAST(next_ret AS UINT64) > 9223372036854775807
        THEN (TRY_CAST(next_ret AS UINT64) - 9223372036854775808)::INT64 - 9223372036854775807 - 1
        ELSE TRY_CAST(next_ret AS INT64) END
      ELSE TRY_CAST(next_ret AS INT64) END END AS value
  FROM _built.system_calls
)
SELECT r._ts, CASE WHEN ended THEN end_ts - r._ts END AS _duration, r.tid, COALESCE(CASE WHEN common_tgid > 0 THEN common_tgid END, o.pid) AS pid,
  common_comm AS comm, called AS name, number, value AS ret, value BETWEEN -4095 AND -1 AS failed, args, line
FROM results AS r LEFT JOIN _built.thread_processes AS o ON o.tid = r.tid
ORDER BY r._ts, line, r.tid
