-- Tracks of a timeline: instants of threads, processes and other tracks, and global ones; see `instants`.
-- formats: *
-- rows of: instants by id
-- columns of: timeline.slices
SELECT i._ts, 0::INT64 IN ns AS _duration, COALESCE(t.path, LIST_VALUE('Instants')) AS path, 'instants' AS kind,
  COALESCE(t.ranks, LIST_VALUE(8)::INT64[]) AS ranks, NULL::INT64 AS depth, i.name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, i.id
FROM _built.instants AS i
LEFT JOIN (
  SELECT track, LIST_APPEND(CASE WHEN kind = 'track' THEN own_path ELSE path END, 'Instants') AS path,
    LIST_APPEND(CASE WHEN kind = 'track' THEN own_ranks ELSE ranks END, 8) AS ranks
  FROM _built.timeline_tracks
) AS t ON t.track = i.track
ORDER BY i._ts, i.id
