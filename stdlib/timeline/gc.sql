-- Tracks of a timeline: garbage collections and their steps, by process; see `gc.collections`.
-- formats: chrome-json, ftrace-text, perfetto, trace-dat
-- rows of: gc.collections by id
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Garbage collection')) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(4)::INT64[]) AS ranks, NULL::INT64 AS depth, s.name AS name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, s.id
FROM gc.collections AS s
LEFT JOIN (
  SELECT pid, LIST_APPEND(path, 'Garbage collection') AS path, LIST_APPEND(ranks, 4) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND tid IS NULL
) AS t ON t.pid = s.pid
ORDER BY s._ts, s.tid
