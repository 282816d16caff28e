-- Tracks of a timeline: system calls of each thread, see `syscalls.calls`. A call whose exit was lost lasts until the next call of its thread that the trace tells of in the same way, by number or by name.
-- formats: *
-- rows of: syscalls.calls by line, tid
-- columns of: timeline.slices
SELECT s._ts, s.end_ts - s._ts AS _duration, COALESCE(t.path, LIST_VALUE('Threads', COALESCE(s.tid::STRING, 'no thread'), 'System calls')) AS path,
  'slices' AS kind, COALESCE(t.ranks, LIST_VALUE(2, NULL, 3)::INT64[]) AS ranks, NULL::INT64 AS depth, s.called AS name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, s.line, s.tid
FROM _built.system_calls AS s
LEFT JOIN (
  SELECT tid, LIST_APPEND(path, 'System calls') AS path, LIST_APPEND(ranks, 3) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND pid IS NULL
) AS t ON t.tid = s.tid
ORDER BY s._ts, s.line, s.tid
