-- What devices moved, by the time in which at least one request of the kind was under way.
-- formats: ctf, ftrace-graph, ftrace-text, perf-data, perf-script, perfetto, records, trace-dat
-- better higher: bandwidth
-- better none: bytes
WITH moves AS (
  SELECT _ts, _duration, operation, bytes FROM t.block.requests WHERE _duration IS NOT NULL AND operation IN ('read', 'write')
),
busy AS (
  SELECT operation, SUM(_duration) AS busy FROM dctv.concurrency((SELECT _ts, _duration, operation FROM moves WHERE _duration > 0ns), partition=>["operation"])
  GROUP BY operation
),
sums AS (SELECT operation, SUM(bytes) AS bytes FROM moves GROUP BY operation)
SELECT sums.operation, bytes / busy IN `MB/s` AS bandwidth, bytes, COALESCE(busy, 0ns) AS busy
FROM sums LEFT JOIN busy ON busy.operation = sums.operation ORDER BY sums.operation
