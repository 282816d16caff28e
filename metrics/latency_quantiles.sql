-- How long woken threads wait for a CPU, requests for their disk, and system calls for their end: quantiles.
-- formats: ctf, ftrace-graph, ftrace-text, perf-data, perf-script, perfetto, records, trace-dat
WITH waits AS (
  SELECT 'wakeup' AS what, latency FROM t.scheduler.wakeup_latency
  UNION ALL SELECT 'block ' || operation, _duration FROM t.block.requests
  UNION ALL SELECT 'system call ' || name, _duration FROM t.syscalls.calls
)
SELECT what, QUANTILE_DISC(latency, 0.5) AS p50, QUANTILE_DISC(latency, 0.95) AS p95, QUANTILE_DISC(latency, 0.99) AS p99
FROM waits WHERE latency IS NOT NULL GROUP BY what ORDER BY what
