-- Tracks of a timeline: requests to each block device; see `block.requests`.
-- formats: *
-- rows of: block.requests by line, device, sector
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('Block devices', COALESCE(device, 'no device'), 'Requests') AS path, 'slices' AS kind,
  LIST_VALUE(9, NULL, 0)::INT64[] AS ranks, NULL::INT64 AS depth, operation AS name, NULL::FLOAT64 AS value, NULL::STRING AS unit, line, device, sector
FROM block.requests
ORDER BY _ts, line, device, sector
