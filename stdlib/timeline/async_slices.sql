-- Tracks of a timeline: what programs do across threads, below the thread or process that it is of, see `async_slices`. Tracks of one name are one.
-- formats: *
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Async', 'track ' || s.track::STRING)) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(4, NULL)::INT64[]) AS ranks, s.depth::INT64 AS depth, s.name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit
FROM _built.async_slices AS s
LEFT JOIN (
  SELECT track,
    LIST_APPEND(COALESCE(path, LIST_VALUE(CASE kind WHEN 'track' THEN 'Tracks' WHEN 'global' THEN 'Global' ELSE 'Async' END)),
      CASE kind WHEN 'process' THEN 'Slices' ELSE name END) AS path,
    CASE WHEN path IS NULL THEN LIST_VALUE(4, NULL)::INT64[] ELSE LIST_APPEND(ranks, 5) END AS ranks
  FROM _built.timeline_tracks
) AS t ON t.track = s.track
ORDER BY s._ts, s.id
