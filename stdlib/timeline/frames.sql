-- Tracks of a timeline: frames drawn by Android apps, by process; see `frames.app`.
-- formats: chrome-json, ftrace-text, perfetto, trace-dat
-- rows of: frames.app by id
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Frames')) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(3)::INT64[]) AS ranks, NULL::INT64 AS depth, COALESCE('Frame ' || s.frame::STRING, 'Frame') AS name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, s.id
FROM frames.app AS s
LEFT JOIN (
  SELECT pid, LIST_APPEND(path, 'Frames') AS path, LIST_APPEND(ranks, 3) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND tid IS NULL
) AS t ON t.pid = s.pid
ORDER BY s._ts, s.pid, s.tid
