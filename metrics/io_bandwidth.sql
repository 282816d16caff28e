-- Input and output of calls: bytes by the time in which at least one call was under way, bytes, and time.
-- formats: ctf, dftracer, ftrace-graph, ftrace-text, perf-data, perf-script, perfetto, records, trace-dat
-- better higher: bandwidth
-- better none: bytes
WITH moves AS (
  SELECT _ts, _duration, direction, bytes FROM t.io.calls WHERE direction IS NOT NULL AND bytes IS NOT NULL AND _duration IS NOT NULL
),
busy AS (
  SELECT direction, SUM(_duration) AS busy FROM dctv.concurrency((SELECT _ts, _duration, direction FROM moves WHERE _duration > 0ns), partition=>["direction"])
  GROUP BY direction
),
sums AS (SELECT direction, SUM(bytes) AS bytes FROM moves GROUP BY direction)
SELECT sums.direction, bytes / busy IN `MB/s` AS bandwidth, bytes, COALESCE(busy, 0ns) AS busy
FROM sums LEFT JOIN busy ON busy.direction = sums.direction ORDER BY sums.direction
