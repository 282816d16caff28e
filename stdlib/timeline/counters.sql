-- Tracks of a timeline: counters of tracks, threads and processes, and global ones; see `counters`.
-- formats: *
-- rows of: counters by track
-- columns of: timeline.slices
SELECT c._ts, c._duration, COALESCE(t.path, LIST_VALUE('Counters', 'track ' || c.track::STRING)) AS path, 'counter' AS kind,
  COALESCE(t.ranks, LIST_VALUE(6, NULL)::INT64[]) AS ranks, NULL::INT64 AS depth, NULL::STRING AS name, c.value, t.unit, c.track
FROM counters AS c
LEFT JOIN (
  SELECT track, unit,
    LIST_APPEND(CASE WHEN below THEN path ELSE LIST_APPEND(path, 'Counters') END,
      CASE WHEN copy = 1 THEN name ELSE name || ' ' || copy::STRING END) AS path,
    LIST_APPEND(CASE WHEN below THEN ranks ELSE LIST_APPEND(ranks, 6) END, NULL) AS ranks
  FROM _built.timeline_tracks
) AS t ON t.track = c.track
ORDER BY c._ts, c.track
