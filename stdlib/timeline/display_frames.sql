-- Tracks of a timeline: work of SurfaceFlinger to display frames; see `frames.surfaceflinger`.
-- formats: chrome-json, ftrace-text, perfetto, trace-dat
-- rows of: frames.surfaceflinger by id
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Display frames')) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(3)::INT64[]) AS ranks, NULL::INT64 AS depth, s.name AS name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, s.id
FROM frames.surfaceflinger AS s
LEFT JOIN (
  SELECT pid, LIST_APPEND(path, 'Display frames') AS path, LIST_APPEND(ranks, 3) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND tid IS NULL
) AS t ON t.pid = s.pid
ORDER BY s._ts, s.tid
