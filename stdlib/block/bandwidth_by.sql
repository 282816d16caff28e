-- How much each device moved, by equal periods that begin at 0. A request counts where it completes; those that are not seen to complete are left out, and periods without any have no row.
-- formats: *
-- parameter period ns = 100ms: how long each period is
-- column _ts: when the period begins
-- column device: the device, as `major,minor`
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column requests: how many completed
-- column bytes: how much they moved
-- column rate: that by the length of a period
SELECT ((_ts + _duration) // (:period IN ns)) * (:period IN ns) AS _ts, device, operation, COUNT(*) AS requests, SUM(bytes) AS bytes,
  SUM(bytes) / (:period IN ns) AS rate
FROM block.requests WHERE _duration IS NOT NULL
GROUP BY ((_ts + _duration) // (:period IN ns)) * (:period IN ns), device, operation
ORDER BY _ts, device, operation
