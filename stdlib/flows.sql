-- Arrows from slice to slice: one row for each two points of one flow that follow each other. A point is at the innermost slice of its track that is open then (`enclosing`, the way of a begin), at the next one to begin (`next`, as Chrome's flows end), or at the one that began with it.
-- formats: *
-- column flow: the flow's number
-- column name: its name, or NULL
-- column category: its category, or NULL
-- column from_ts: when it leaves
-- column from_track: the track that it leaves
-- column from_id: the slice that it leaves, see `slices`, or NULL
-- column to_ts: when it arrives
-- column to_track: the track where it arrives
-- column to_id: the slice that it leads to, or NULL
WITH points AS (
  SELECT _ts, line, flow, phase, track, binding, name, category,
    ROW_NUMBER() OVER (ORDER BY _ts, line, flow, phase, track) AS point
  FROM _parts.flows
),
innermost AS (
  SELECT _ts, _ts + _duration AS end_ts, track, id FROM dctv.flatten(
    (SELECT _ts, COALESCE(_duration, (SELECT _ts + 1ns FROM last_ts) - _ts) AS _duration, track, id
     FROM _built.slices WHERE _duration > 0 OR _duration IS NULL),
    partition=>"track")
),
began AS (SELECT _ts, track, MIN(id) AS id FROM _built.slices GROUP BY _ts, track),
enclosing AS (
  SELECT p.point, CASE WHEN i.end_ts > p._ts THEN i.id END AS id
  FROM (SELECT * FROM points WHERE binding = 'enclosing') AS p
  ASOF JOIN innermost AS i ON i.track = p.track AND p._ts >= i._ts
),
next AS (
  SELECT p.point, b.id
  FROM (SELECT * FROM points WHERE binding = 'next') AS p
  ASOF JOIN began AS b ON b.track = p.track AND p._ts <= b._ts
),
own AS (
  SELECT p.point, MIN(s.id) AS id
  FROM points AS p JOIN _built.slices AS s ON s.track = p.track AND s._ts = p._ts AND s.line = p.line
  WHERE p.binding = 'own' GROUP BY p.point
),
bound AS (
  SELECT p.*, COALESCE(e.id, n.id, o.id) AS id
  FROM points AS p
  LEFT JOIN enclosing AS e ON e.point = p.point
  LEFT JOIN next AS n ON n.point = p.point
  LEFT JOIN own AS o ON o.point = p.point
),
arrows AS (
  SELECT flow, name, category, phase, _ts AS to_ts, track AS to_track, id AS to_id, point,
    LAG(_ts) OVER w AS from_ts, LAG(track) OVER w AS from_track, LAG(id) OVER w AS from_id, LAG(phase) OVER w AS before
  FROM bound WINDOW w AS (PARTITION BY flow ORDER BY _ts, line, point)
)
SELECT flow, name, category, from_ts, from_track, from_id, to_ts, to_track, to_id
FROM arrows WHERE from_ts IS NOT NULL AND phase <> 'begin' AND before <> 'end'
ORDER BY from_ts, to_ts, flow, point
