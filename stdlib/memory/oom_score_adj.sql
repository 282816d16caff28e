-- How readily the kernel would end each process for want of memory: one span from a change of `oom_score_adj` to the next one, the last one until the trace's end.
-- formats: *
-- column pid: the process
-- column comm: its name then
-- column oom_score_adj: the score: -1000 is never, 1000 first
WITH lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY pid ORDER BY _ts, line), (SELECT _ts FROM last_ts)) AS end_ts, pid, comm,
    oom_score_adj
  FROM _events.oom_score_adj_update
)
SELECT SPAN * FROM dctv.as_spans((SELECT * FROM lasting WHERE end_ts > _ts), end=>"end_ts", partition=>"pid")
