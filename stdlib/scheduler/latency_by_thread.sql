-- Scheduling latency of each thread: the distribution of its waits for a CPU; see `scheduler.runnable_latency`.
-- formats: *
-- column tid: the thread
-- column comm: its last name
-- column waits: number of waits after which it ran
-- column total: total duration of the waits
-- column mean: mean wait
-- column median: median wait
-- column p95: 95th percentile of the waits
-- column p99: 99th percentile of the waits
-- column longest: the longest wait
-- column longest_ts: start of the longest wait, the first of several
SELECT tid, ARG_MAX(comm, _ts) AS comm, COUNT(*) AS waits, SUM(latency) AS total, AVG(latency) AS mean,
  QUANTILE_DISC(latency, 0.5) AS median, QUANTILE_DISC(latency, 0.95) AS p95, QUANTILE_DISC(latency, 0.99) AS p99,
  MAX(latency) AS longest, MIN(_ts) FILTER (WHERE latency = most) AS longest_ts
FROM (SELECT *, MAX(latency) OVER (PARTITION BY tid) AS most FROM scheduler.runnable_latency)
GROUP BY tid
ORDER BY total DESC, tid
