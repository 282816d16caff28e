-- How long each thread waited for a CPU: the distribution of its waits, see `scheduler.runnable_latency`.
-- formats: *
-- column tid: the thread
-- column comm: its last name
-- column waits: how often it waited and then ran
-- column total: how long in all
-- column mean: on average
-- column median: half of the waits were no longer
-- column p95: nineteen in twenty were no longer
-- column p99: ninety-nine in a hundred were no longer
-- column longest: the longest wait
-- column longest_ts: when the first of the longest ones began
SELECT tid, ARG_MAX(comm, _ts) AS comm, COUNT(*) AS waits, SUM(latency) AS total, AVG(latency) AS mean,
  QUANTILE_DISC(latency, 0.5) AS median, QUANTILE_DISC(latency, 0.95) AS p95, QUANTILE_DISC(latency, 0.99) AS p99,
  MAX(latency) AS longest, MIN(_ts) FILTER (WHERE latency = most) AS longest_ts
FROM (SELECT *, MAX(latency) OVER (PARTITION BY tid) AS most FROM scheduler.runnable_latency)
GROUP BY tid
ORDER BY total DESC, tid
