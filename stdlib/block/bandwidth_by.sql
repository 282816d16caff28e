-- Bytes transferred by each device in equal periods. Periods begin at multiples of `period`. A request counts in the period in which it completes. Requests without a recorded completion are left out, and so are periods without any.
-- formats: *
-- parameter period positive ns = 100ms: length of each period
-- column _ts: start of the period
-- column device: the device, as `major,minor`
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column requests: number of completed requests
-- column bytes: bytes transferred
-- column rate: throughput in the period
SELECT done - (done % (:period IN ns) + (:period IN ns)) % (:period IN ns) AS _ts, device, operation, COUNT(*) AS requests, SUM(bytes) AS bytes,
  SUM(bytes) / (:period IN ns) AS rate
FROM (SELECT _ts + _duration AS done, device, operation, bytes FROM block.requests WHERE _duration IS NOT NULL)
GROUP BY done - (done % (:period IN ns) + (:period IN ns)) % (:period IN ns), device, operation
ORDER BY _ts, device, operation
