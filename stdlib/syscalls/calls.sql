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
WITH steps AS (
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'number' AS kind, id AS number, NULL::STRING AS name, args,
    NULL::STRING AS ret, TRUE AS entry
  FROM _events.sys_enter
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'number', id, NULL, NULL, ret, FALSE FROM _events.sys_exit
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'name', NULL, name, args::STRING, NULL, TRUE
  FROM _events.syscall_enters
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'name', NULL, name, args::STRING, ret, FALSE
  FROM _events.syscall_exits
),
known AS (
  SELECT steps.*, common_pid AS tid FROM steps WHERE common_pid IS NOT NULL
  UNION ALL
  SELECT steps.*, switches.next_pid
  FROM (SELECT * FROM steps WHERE common_pid IS NULL) AS steps
  ASOF LEFT JOIN (SELECT _ts, cpu, MAX(next_pid) AS next_pid FROM _events.sched_switch GROUP BY _ts, cpu) AS switches
  ON steps.cpu = switches.cpu AND steps._ts >= switches._ts
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(entry) OVER w AS next_entry, LEAD(ret) OVER w AS next_ret,
    LEAD(name) OVER w AS next_name, LEAD(number) OVER w AS next_number
  FROM known WINDOW w AS (PARTITION BY kind, COALESCE(tid, -1 - cpu) ORDER BY _ts, line, entry)
),
named AS (
  SELECT c.*, COALESCE(c.name, n.name, 'NR ' || c.number::STRING) AS called,
    NOT next_entry AND next_name <=> c.name AND next_number <=> c.number AS ended
  FROM followed AS c
  LEFT JOIN (SELECT number, name FROM syscalls.numbers AS x JOIN syscalls.architecture AS a ON a.architecture = x.architecture) AS n
  ON n.number = c.number
  WHERE entry
),
results AS (
  SELECT *, CASE WHEN ended THEN CASE
      WHEN next_ret LIKE '0x%' THEN CASE
        WHEN TRY_CAST(next_ret AS UINT64) > 9223372036854775807
        THEN (TRY_CAST(next_ret AS UINT64) - 9223372036854775808)::INT64 - 9223372036854775807 - 1
        ELSE TRY_CAST(next_ret AS INT64) END
      ELSE TRY_CAST(next_ret AS INT64) END END AS value
  FROM named
)
SELECT _ts, CASE WHEN ended THEN end_ts - _ts END AS _duration, tid, common_tgid AS pid, common_comm AS comm, called AS name, number,
  value AS ret, value BETWEEN -4095 AND -1 AS failed, args, line
FROM results
WHERE kind = 'name' OR called NOT IN (SELECT DISTINCT name FROM _events.syscall_enters)
ORDER BY _ts, line, tid
