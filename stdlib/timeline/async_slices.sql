-- Tracks of a timeline: work that crosses threads, below its track, thread or process; see `async_slices`. Tracks of the same name are merged.
-- formats: *
-- rows of: async_slices by id
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Async', 'track ' || s.track::STRING)) AS path, 'slices' AS kind,
  COALESCE(t.ranks, LIST_VALUE(4, NULL)::INT64[]) AS ranks, s.depth::INT64 AS depth, s.name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, s.id
FROM _built.async_slices AS s
LEFT JOIN (SELECT track, own_path AS path, own_ranks AS ranks FROM _built.timeline_tracks) AS t ON t.track = s.track
ORDER BY s._ts, s.id
