-- What was done with each device, see `block.requests`.
-- formats: *
-- column device: the device, as `major,minor`
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column requests: how many
-- column bytes: how much they moved
-- column unfinished: how many were not seen to complete
-- column mean: how long they took on average
-- column p99: ninety-nine in a hundred took no longer
-- column longest: the longest one
SELECT device, operation, COUNT(*) AS requests, COALESCE(SUM(bytes), 0B) AS bytes,
  COUNT(*) FILTER (WHERE _duration IS NULL) AS unfinished, AVG(_duration) AS mean, QUANTILE_DISC(_duration, 0.99) AS p99,
  MAX(_duration) AS longest
FROM block.requests
GROUP BY device, operation
ORDER BY device, operation
