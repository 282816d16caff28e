-- System calls by name, with counts and times. See `syscalls.calls`.
-- formats: *
-- column name: the call
-- column calls: number of calls
-- column failed: number of calls that returned an error
-- column unfinished: number of calls without a known end
-- column time: total duration of the others, summed over all threads
-- column mean: mean duration
-- column p99: 99th percentile of the duration
-- column longest: the longest duration
SELECT name, COUNT(*) AS calls, COUNT(*) FILTER (WHERE failed) AS failed, COUNT(*) FILTER (WHERE _duration IS NULL) AS unfinished,
  COALESCE(SUM(_duration), 0ns) AS time, AVG(_duration) AS mean, QUANTILE_DISC(_duration, 0.99) AS p99, MAX(_duration) AS longest
FROM syscalls.calls
GROUP BY name
ORDER BY time DESC, name
