-- Tracks of a timeline: number of requests in progress on each block device; see `block.queue_depth`.
-- formats: *
-- rows of: block.queue_depth by device
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('Block devices', COALESCE(device, 'no device'), 'Queue depth') AS path, 'counter' AS kind,
  LIST_VALUE(9, NULL, 1)::INT64[] AS ranks, NULL::INT64 AS depth, NULL::STRING AS name, open::FLOAT64 AS value,
  NULL::STRING AS unit, device
FROM block.queue_depth
ORDER BY _ts, device
