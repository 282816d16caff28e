-- Tracks of a timeline: calls of input and output, once by process, or by thread where its process is not known, and once by file, see `io.calls`.
-- formats: *
-- rows of: io.calls by line, pid, tid
-- columns of: timeline.slices
-- A crossing with two rows, not two selects: finding out the files of system calls takes long.
SELECT c._ts, c.dur AS _duration,
  CASE WHEN w.by_file THEN LIST_VALUE('I/O', 'by file', COALESCE(c.path, 'no file'))
    ELSE LIST_VALUE('I/O', 'by process', COALESCE(o.label, 'no process')) END AS path, 'slices' AS kind,
  CASE WHEN w.by_file THEN LIST_VALUE(10, 1, NULL) ELSE LIST_VALUE(10, 0, NULL) END::INT64[] AS ranks, NULL::INT64 AS depth, c.name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, c.line, c.pid, c.tid
FROM _parts.io_calls AS c
LEFT JOIN (
  SELECT host, pid, tid, path[2] AS label FROM _built.timeline_owners WHERE tid IS NULL OR pid IS NULL
) AS o ON o.pid <=> c.pid AND o.tid <=> CASE WHEN c.pid IS NULL THEN c.tid END AND o.host <=> c.hostname
CROSS JOIN (VALUES (FALSE), (TRUE)) AS w(by_file)
ORDER BY c._ts, c.line, c.pid, c.tid, w.by_file
