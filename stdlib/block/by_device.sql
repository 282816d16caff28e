-- Requests of each device, by operation. See `block.requests`.
-- formats: *
-- column device: the device, as `major,minor`
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column requests: number of requests
-- column bytes: bytes transferred
-- column unfinished: number of requests without a recorded completion
-- column mean: mean duration
-- column p99: 99th percentile of the duration
-- column longest: the longest duration
SELECT device, operation, COUNT(*) AS requests, COALESCE(SUM(bytes), 0B) AS bytes,
  COUNT(*) FILTER (WHERE _duration IS NULL) AS unfinished, AVG(_duration) AS mean, QUANTILE_DISC(_duration, 0.99) AS p99,
  MAX(_duration) AS longest
FROM block.requests
GROUP BY device, operation
ORDER BY device, operation
