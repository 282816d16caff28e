-- How readily the kernel would end each process for want of memory: one span from a change of `oom_score_adj` to the next one, the last one until the last event of the kernel.
-- formats: *
-- column pid: the process
-- column comm: its name then
-- column oom_score_adj: the score: -1000 is never, 1000 first
WITH told AS (
  -- The kernel may tell of a process by any of its threads.
  SELECT e._ts, e.line, COALESCE(o.pid, e.pid) AS pid, e.comm, e.oom_score_adj
  FROM _events.oom_score_adj_update AS e LEFT JOIN _built.thread_processes AS o ON o.tid = e.pid
),
lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY pid ORDER BY _ts, line), (SELECT _ts FROM _built.kernel_end)) AS end_ts, pid, comm,
    oom_score_adj
  FROM told
)
SELECT SPAN * FROM dctv.as_spans((SELECT * FROM lasting WHERE end_ts > _ts), end=>"end_ts", partition=>"pid")
