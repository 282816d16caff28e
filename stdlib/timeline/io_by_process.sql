-- Tracks of a timeline: calls of input and output by process, or by thread where its process is not known, see `io.calls`.
-- formats: *
-- columns of: timeline.slices
SELECT c._ts, c.dur AS _duration, LIST_VALUE('I/O', 'by process', COALESCE(o.label, 'no process')) AS path, 'slices' AS kind,
  LIST_VALUE(10, 0, NULL)::INT64[] AS ranks, NULL::INT64 AS depth, c.name, NULL::FLOAT64 AS value, NULL::STRING AS unit
FROM _parts.io_calls AS c
LEFT JOIN (
  SELECT host, pid, tid, path[2] AS label FROM _built.timeline_owners WHERE tid IS NULL OR pid IS NULL
) AS o ON o.pid <=> c.pid AND o.tid <=> CASE WHEN c.pid IS NULL THEN c.tid END AND o.host <=> c.hostname
ORDER BY c._ts, c.line, c.pid, c.tid
