-- How readily the kernel kills each process when memory runs out: one span from each change of `oom_score_adj` to the next, and from the last one to the last kernel event.
-- formats: *
-- column pid: the process
-- column comm: its name at that time
-- column oom_score_adj: the score: -1000 for never, 1000 for first
WITH events AS (
  -- The event may name any thread of the process.
  SELECT e._ts, e.line, COALESCE(o.pid, e.pid) AS pid, e.comm, e.oom_score_adj
  FROM _events.oom_score_adj_update AS e LEFT JOIN _built.thread_processes AS o ON o.tid = e.pid
),
lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY pid ORDER BY _ts, line), (SELECT _ts FROM _built.kernel_end)) AS end_ts, pid, comm,
    oom_score_adj
  FROM events
)
SELECT SPAN * FROM dctv.as_spans((SELECT * FROM lasting WHERE end_ts > _ts), end=>"end_ts", partition=>"pid")
