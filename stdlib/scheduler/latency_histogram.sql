-- Scheduling latency of all threads: a histogram of their waits for a CPU, with buckets at powers of two.
-- formats: *
-- column cause: `woken` or `preempted`
-- column at_least: lower bound of the bucket, inclusive
-- column below: upper bound of the bucket, exclusive
-- column waits: number of waits
SELECT cause, CASE power WHEN -1 THEN 0 ELSE POW(2, power) END IN ns AS at_least, POW(2, power + 1) IN ns AS below, COUNT(*) AS waits
FROM (SELECT cause, CASE WHEN latency > 0ns THEN FLOOR(LOG2(latency / 1ns)) ELSE -1 END AS power FROM scheduler.runnable_latency)
GROUP BY cause, power
ORDER BY cause, power
