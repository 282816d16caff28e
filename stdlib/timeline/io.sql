-- Tracks of a timeline: input and output calls, once by process (or by thread if the process is unknown) and once by file; see `io.calls`.
-- formats: *
-- rows of: io.calls by line, pid, tid
-- columns of: timeline.slices
-- Each call appears in two places, but is found and sorted only once.
SELECT _ts, _duration, LIST_VALUE('I/O', CASE WHEN by_file THEN 'by file' ELSE 'by process' END, CASE WHEN by_file THEN file ELSE process END) AS path,
  'slices' AS kind, CASE WHEN by_file THEN LIST_VALUE(10, 1, NULL) ELSE LIST_VALUE(10, 0, NULL) END::INT64[] AS ranks, NULL::INT64 AS depth, name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, line, pid, tid
FROM (
  SELECT *, UNNEST(LIST_VALUE(FALSE, TRUE)) AS by_file
  FROM (
    SELECT c._ts, c.dur AS _duration, COALESCE(o.label, 'no process') AS process, COALESCE(c.path, 'no file') AS file, c.name, c.line, c.pid, c.tid
    FROM _parts.io_calls AS c
    LEFT JOIN (
      SELECT host, pid, tid, path[2] AS label FROM _built.timeline_owners WHERE tid IS NULL OR pid IS NULL
    ) AS o ON o.pid <=> c.pid AND o.tid <=> CASE WHEN c.pid IS NULL THEN c.tid END AND o.host <=> c.hostname
    ORDER BY c._ts, c.line, c.pid, c.tid
  )
)
