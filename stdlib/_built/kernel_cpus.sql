-- The state of each CPU after each change: its thread (NULL if unknown, 0 if idle), whether that thread is in a system call, and how many interrupts and softirqs are being handled, and are raised.
-- formats: *
WITH steps AS (
  SELECT _ts, line, cpu, 2 AS rank, tid, calling, 0 AS irqs, 0 AS softirqs, 0 AS raised FROM _built.kernel_runs WHERE cpu IS NOT NULL
  UNION ALL
  -- -1 stands for no thread, since NULL stands for no change.
  SELECT _ts, line, last_cpu, 1, -1, FALSE, 0, 0, 0 FROM _built.kernel_runs WHERE last_cpu IS NOT NULL AND NOT last_cpu <=> cpu
  UNION ALL
  SELECT _ts, line, cpu, 2, 0, FALSE, 0, 0, 0 FROM _events.sched_switch WHERE next_pid = 0
  UNION ALL
  SELECT _ts, line, cpu, 0, NULL, NULL, CASE WHEN NOT soft THEN more_handled ELSE 0 END, CASE WHEN soft THEN more_handled ELSE 0 END,
    more_raised
  FROM _built.kernel_handlers
),
states AS (
  SELECT _ts, line, cpu, rank, LAST_VALUE(tid) IGNORE NULLS OVER w AS tid, LAST_VALUE(calling) IGNORE NULLS OVER w AS calling,
    SUM(irqs) OVER w AS irqs, SUM(softirqs) OVER w AS softirqs, SUM(raised) OVER w AS raised
  FROM steps WINDOW w AS (PARTITION BY cpu ORDER BY _ts, line, rank ROWS UNBOUNDED PRECEDING)
),
-- Of several states at one time only the last counts.
lasting AS (SELECT *, NOT LEAD(_ts) OVER (PARTITION BY cpu ORDER BY _ts, line, rank) <=> _ts AS lasts FROM states)
SELECT _ts, line, cpu, rank, CASE WHEN tid >= 0 THEN tid END AS tid, calling, irqs, softirqs, raised FROM lasting WHERE lasts
