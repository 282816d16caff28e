-- Where a timeline has what is of a track: the groups of its thread or process, else a group of its service, else NULL; `copy` counts those of one kind and name in one place.
-- formats: *
WITH placed AS (
  SELECT t.track, t.kind, COALESCE(NULLIF(t.name, ''), 'track ' || t.track::STRING) AS name, t.unit,
    CASE WHEN t.kind = 'service'
      THEN LIST_VALUE('Services', COALESCE(t.host || ': ', '') || COALESCE(t.name, '') || COALESCE(' (' || t.pid::STRING || ')', ''))
      ELSE o.path END AS path,
    CASE WHEN t.kind = 'service' THEN LIST_VALUE(3, NULL)::INT64[] ELSE o.ranks END AS ranks
  FROM _parts.tracks AS t LEFT JOIN _built.timeline_owners AS o ON o.tid <=> t.tid AND o.pid <=> t.pid AND o.host <=> t.host
)
SELECT track, kind, name, unit, path, ranks,
  -- Tracks of marks are negative, and come after a trace's own.
  ROW_NUMBER() OVER (
    PARTITION BY path, kind, CASE WHEN kind NOT IN ('thread', 'process') THEN name END ORDER BY track < 0, ABS(track)) AS copy
FROM placed
