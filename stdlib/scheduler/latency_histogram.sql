-- How long threads that could run waited for a CPU, all threads together: how many waits there were of each order of magnitude, by powers of two.
-- formats: *
-- column cause: `woken` or `preempted`
-- column at_least: the shortest wait that is counted here
-- column below: the shortest one that is not any more
-- column waits: how many there were
SELECT cause, CASE power WHEN -1 THEN 0 ELSE POW(2, power) END IN ns AS at_least, POW(2, power + 1) IN ns AS below, COUNT(*) AS waits
FROM (SELECT cause, CASE WHEN latency > 0ns THEN FLOOR(LOG2(latency / 1ns)) ELSE -1 END AS power FROM scheduler.runnable_latency)
GROUP BY cause, power
ORDER BY cause, power
