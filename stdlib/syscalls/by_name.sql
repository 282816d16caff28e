-- What was called how often, and how long it took; see `syscalls.calls`.
-- formats: *
-- column name: the call
-- column calls: how often it was called
-- column failed: how often it returned an error
-- column unfinished: how many calls have no known end
-- column time: how long the others took, those of all threads added up
-- column mean: how long on average
-- column p99: ninety-nine in a hundred took no longer
-- column longest: the longest one
SELECT name, COUNT(*) AS calls, COUNT(*) FILTER (WHERE failed) AS failed, COUNT(*) FILTER (WHERE _duration IS NULL) AS unfinished,
  COALESCE(SUM(_duration), 0ns) AS time, AVG(_duration) AS mean, QUANTILE_DISC(_duration, 0.99) AS p99, MAX(_duration) AS longest
FROM syscalls.calls
GROUP BY name
ORDER BY time DESC, name
