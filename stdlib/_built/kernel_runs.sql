-- The CPU that each thread runs on (`cpu`, NULL while it does not run), and whether it is in a system call, after each change of either.
-- formats: *
WITH steps AS (
  -- -1 stands for no CPU, since NULL stands for no change.
  SELECT _ts, line, tid, CASE WHEN state = 'running' THEN cpu ELSE -1 END AS cpu, CASE WHEN state = 'ended' THEN FALSE END AS calling,
    CASE WHEN state = 'running' THEN 3 ELSE 2 END AS rank
  FROM scheduler.states
  UNION ALL
  SELECT _ts, line, pid, -1, FALSE, 2 FROM _events.sched_process_free
  UNION ALL
  SELECT _ts, line, tid, NULL, TRUE, 1 FROM _built.system_calls WHERE tid > 0
  UNION ALL
  SELECT end_ts, end_line, tid, NULL, FALSE, 0 FROM _built.system_calls WHERE tid > 0 AND NOT next_entry
),
states AS (
  SELECT _ts, line, tid, rank, LAST_VALUE(cpu) IGNORE NULLS OVER w AS cpu,
    COALESCE(LAST_VALUE(calling) IGNORE NULLS OVER w, FALSE) AS calling
  FROM steps WINDOW w AS (PARTITION BY tid ORDER BY _ts, line, rank ROWS UNBOUNDED PRECEDING)
)
SELECT _ts, line, tid, rank, CASE WHEN cpu >= 0 THEN cpu END AS cpu, calling, CASE WHEN LAG(cpu) OVER w >= 0 THEN LAG(cpu) OVER w END AS last_cpu,
  COALESCE(LAG(calling) OVER w, FALSE) AS was_calling
FROM states WINDOW w AS (PARTITION BY tid ORDER BY _ts, line, rank)
