-- Arrows between slices: one row for each step from a point of a flow to the next. A flow may lead from one point to several others. A point is attached to the slice that its event begins or ends, to an instant, to the innermost open slice of its track (`enclosing`, as at the begin of a flow), or to the next slice that begins on the track (`next`, as at the end of Chrome's flows). An arrow leads from the slice that began first, even if the flow is recorded when that slice ends.
-- formats: *
-- column flow: the flow's number
-- column name: its name, or NULL
-- column category: its category, or NULL
-- column from_ts: time of departure
-- column from_track: track of departure
-- column from_kind: kind of the source: `slice` (see `slices`), `async` (see `async_slices`), `instant` (see `instants`), or NULL
-- column from_id: its `id`, or NULL
-- column from_name: its name, or NULL
-- column to_ts: time of arrival
-- column to_track: track of arrival
-- column to_kind: kind of the destination, as above, or NULL
-- column to_id: its `id`, or NULL
-- column to_name: its name, or NULL
WITH points AS (
  SELECT _ts, line, flow, phase, track, binding, name, category,
    ROW_NUMBER() OVER (ORDER BY _ts, line, flow, CASE phase WHEN 'begin' THEN 0 WHEN 'step' THEN 1 ELSE 2 END, track) AS point
  FROM _parts.flows
),
innermost AS (
  SELECT _ts, _ts + _duration AS end_ts, track, id FROM dctv.flatten(
    (SELECT _ts, COALESCE(_duration, (SELECT _ts + 1ns FROM last_ts) - _ts) AS _duration, track, id
     FROM _built.slices WHERE _duration > 0 OR _duration IS NULL),
    partition=>"track")
),
began AS (SELECT _ts, track, MIN(id) AS id FROM _built.slices GROUP BY _ts, track),
things AS (
  SELECT 'slice' AS kind, id, _ts, line, end_line, track, name FROM _built.slices
  UNION ALL SELECT 'async', id, _ts, line, end_line, track, name FROM _built.async_slices
  UNION ALL SELECT 'instant', id, _ts, line, NULL, track, name FROM _built.instants
),
at AS (
  SELECT p.point, 'slice' AS kind, CASE WHEN i.end_ts > p._ts THEN i.id END AS id
  FROM (SELECT * FROM points WHERE binding = 'enclosing') AS p
  ASOF JOIN innermost AS i ON i.track = p.track AND p._ts >= i._ts
  UNION ALL
  SELECT p.point, 'slice', b.id
  FROM (SELECT * FROM points WHERE binding = 'next') AS p
  ASOF JOIN began AS b ON b.track = p.track AND p._ts <= b._ts
  UNION ALL
  SELECT p.point, t.kind, MIN(t.id)
  FROM points AS p JOIN things AS t ON t.track = p.track AND t.line = p.line
  WHERE p.binding = 'own' GROUP BY p.point, t.kind
  UNION ALL
  SELECT p.point, t.kind, MIN(t.id)
  FROM points AS p JOIN things AS t ON t.track = p.track AND t.end_line = p.line
  WHERE p.binding = 'ended' GROUP BY p.point, t.kind
),
bound AS (
  SELECT p.*, t.kind, t.id, t.name AS thing, t._ts AS began
  FROM points AS p LEFT JOIN at AS a ON a.point = p.point LEFT JOIN things AS t ON t.kind = a.kind AND t.id = a.id
),
parted AS (
  SELECT *, SUM(CASE WHEN phase = 'begin' THEN 1 ELSE 0 END) OVER w
    + SUM(CASE WHEN phase = 'close' THEN 1 ELSE 0 END) OVER w - CASE WHEN phase = 'close' THEN 1 ELSE 0 END AS part
  FROM bound WINDOW w AS (PARTITION BY flow ORDER BY point)
),
left_from AS (
  SELECT *, MAX(CASE WHEN phase IN ('begin', 'step') THEN point END)
    OVER (PARTITION BY flow, part ORDER BY point ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS source
  FROM parted
),
arrows AS (SELECT t.*, s._ts AS s_ts, s.track AS s_track, s.kind AS s_kind, s.id AS s_id, s.thing AS s_thing,
    s.began AS s_began, COALESCE(s.began > t.began, FALSE) AS back
  FROM left_from AS t JOIN bound AS s ON s.point = t.source)
SELECT flow, name, category,
  IF(back, began, s_ts) AS from_ts, IF(back, track, s_track) AS from_track, IF(back, kind, s_kind) AS from_kind,
  IF(back, id, s_id) AS from_id, IF(back, thing, s_thing) AS from_name,
  IF(back, s_began, _ts) AS to_ts, IF(back, s_track, track) AS to_track, IF(back, s_kind, kind) AS to_kind,
  IF(back, s_id, id) AS to_id, IF(back, s_thing, thing) AS to_name
FROM arrows ORDER BY from_ts, to_ts, flow, point
