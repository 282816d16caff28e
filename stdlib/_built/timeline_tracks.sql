-- The place of each track on a timeline: its parent track, else the groups of its thread or process, else a group of its service, else NULL. `own_path` is the place of its own slices; `copy` numbers tracks of one kind and name in one place. Tracks whose parents form a cycle, or that are more than 60 levels deep, have no parent.
-- formats: *
-- materialized: session
-- key: track
WITH RECURSIVE named AS (
  SELECT t.track, t.kind, COALESCE(NULLIF(t.name, ''), 'track ' || t.track::STRING) AS name, t.unit, t.parent,
    CASE WHEN t.kind = 'service'
      THEN LIST_VALUE('Services', COALESCE(t.host || ': ', '') || COALESCE(t.name, '') || COALESCE(' (' || t.pid::STRING || ')', ''))
      ELSE o.path END AS path,
    CASE WHEN t.kind = 'service' THEN LIST_VALUE(3, NULL)::INT64[] ELSE o.ranks END AS ranks
  FROM _parts.tracks AS t LEFT JOIN _built.timeline_owners AS o ON o.tid <=> t.tid AND o.pid <=> t.pid AND o.host <=> t.host
),
-- Tracks that can have children, and the children themselves.
nested AS (
  SELECT n.track, n.kind, n.name, n.path, n.ranks, p.track AS parent
  FROM named AS n LEFT JOIN named AS p ON p.track = n.parent AND p.kind IN ('track', 'counter')
  WHERE n.kind IN ('track', 'counter')
),
reached AS (
  SELECT track,
    LIST_CONCAT(COALESCE(path, CASE WHEN kind = 'track' THEN LIST_VALUE('Tracks') ELSE LIST_VALUE() END),
      CASE WHEN kind = 'track' THEN LIST_VALUE(name) ELSE LIST_VALUE('Counters', name) END) AS whole,
    LIST_CONCAT(COALESCE(ranks, CASE WHEN kind = 'track' THEN LIST_VALUE(4) ELSE LIST_VALUE() END),
      CASE WHEN kind = 'counter' THEN LIST_VALUE(6, NULL) WHEN path IS NULL THEN LIST_VALUE(NULL) ELSE LIST_VALUE(5) END)::INT64[] AS whole_ranks,
    NULL::STRING[] AS path, NULL::INT64[] AS ranks, 0 AS level
  FROM nested WHERE parent IS NULL
  UNION ALL
  SELECT n.track, LIST_APPEND(r.whole, n.name), LIST_APPEND(r.whole_ranks, NULL), r.whole, r.whole_ranks, r.level + 1
  FROM reached AS r JOIN nested AS n ON n.parent = r.track
  WHERE r.level < 60
),
placed AS (
  SELECT n.track, n.kind, n.name, n.unit, COALESCE(r.path, n.path) AS path, COALESCE(r.ranks, n.ranks) AS ranks,
    r.path IS NOT NULL AS below
  FROM named AS n LEFT JOIN reached AS r ON r.track = n.track
)
SELECT track, kind, name, unit, path, ranks, below,
  LIST_APPEND(COALESCE(path, LIST_VALUE(CASE kind WHEN 'track' THEN 'Tracks' WHEN 'global' THEN 'Global' ELSE 'Async' END)),
    CASE kind WHEN 'process' THEN 'Slices' ELSE name END) AS own_path,
  CASE WHEN path IS NULL THEN LIST_VALUE(4, NULL)::INT64[] ELSE LIST_APPEND(ranks, CASE WHEN NOT below THEN 5 END) END AS own_ranks,
  -- Tracks of marks have negative numbers, and come after the trace's own tracks.
  ROW_NUMBER() OVER (
    PARTITION BY path, kind, CASE WHEN kind NOT IN ('thread', 'process') THEN name END ORDER BY track < 0, ABS(track)) AS copy
FROM placed
