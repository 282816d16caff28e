-- Tracks of a timeline: calls of input and output by file, see `io.calls`.
-- formats: *
-- columns of: timeline.slices
SELECT _ts, dur AS _duration, LIST_VALUE('I/O', 'by file', COALESCE(path, 'no file')) AS path, 'slices' AS kind,
  LIST_VALUE(10, 1, NULL)::INT64[] AS ranks, NULL::INT64 AS depth, name, NULL::FLOAT64 AS value, NULL::STRING AS unit
FROM _parts.io_calls
ORDER BY _ts, line, pid, tid
