-- Waits for kernel locks: one row for each `contention_begin`, with its end, which is the thread's next such event for the same lock. A wait that does not end has no duration; ends of waits that began before the trace are left out.
-- formats: *
-- column _ts: start of the wait
-- column _duration: duration, NULL if it has no end
-- column tid: the thread
-- column comm: its name, or NULL
-- column lock: the lock's address
-- column kind: `spin`, `read`, `write`, `rt`, `percpu`, `mutex`, several of these with `|` between them, or `semaphore` if no flag is set; as recorded if the trace has text
-- column ret: 0 if it got the lock, else an error code
WITH steps AS (
  SELECT _ts, line, cpu, TRUE AS entry, common_pid AS tid, common_comm AS comm, lock_addr, flags, NULL::INT64 AS ret
  FROM _events.contention_begin
  UNION ALL
  SELECT _ts, line, cpu, FALSE, common_pid, NULL, lock_addr, NULL, ret FROM _events.contention_end
),
-- Each CPU has an idle thread of its own, in whose place interrupts wait.
followed AS (
  SELECT _ts, line, entry, tid, comm, lock_addr, flags, LEAD(_ts) OVER w AS end_ts, LEAD(entry) OVER w AS next_entry,
    LEAD(ret) OVER w AS ret
  FROM steps WINDOW w AS (PARTITION BY CASE WHEN tid = 0 THEN -1 - cpu ELSE tid END, lock_addr ORDER BY _ts, line, entry DESC)
),
bits AS (
  SELECT *, TRY_CAST(flags AS INT64) AS bits FROM followed WHERE entry
)
SELECT _ts, CASE WHEN NOT next_entry THEN end_ts - _ts END AS _duration, tid, comm, lock_addr AS lock,
  CASE WHEN bits = 0 THEN 'semaphore' WHEN bits IS NOT NULL THEN CONCAT_WS('|', CASE WHEN bits & 1 != 0 THEN 'spin' END,
    CASE WHEN bits & 2 != 0 THEN 'read' END, CASE WHEN bits & 4 != 0 THEN 'write' END, CASE WHEN bits & 8 != 0 THEN 'rt' END,
    CASE WHEN bits & 16 != 0 THEN 'percpu' END, CASE WHEN bits & 32 != 0 THEN 'mutex' END) ELSE flags END AS kind,
  CASE WHEN NOT next_entry THEN ret END AS ret
FROM bits
ORDER BY _ts, line, tid
