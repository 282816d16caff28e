-- `S` and `G` marks. Marks of one process, name and cookie do not nest: as in Android and Perfetto, an `S` while another is
-- open is a repetition and is ignored, so that the next `F` ends the first.
-- formats: *
WITH steps AS (
  SELECT _ts, line, pid, name, cookie, TRUE AS begins FROM _events.`print|S`
  UNION ALL
  SELECT _ts, line, pid, name, cookie, FALSE FROM _events.`print|F`
),
begun AS (
  SELECT *, LAG(begins) OVER (PARTITION BY pid, name, cookie ORDER BY _ts, line, begins) AS is_open FROM steps
)
SELECT m._ts, m.line, k.track, m.name
FROM begun AS m
LEFT JOIN _parts.mark_tracks AS k
  ON k.kind = 'async' AND k.on_track IS NULL AND k.pid <=> m.pid AND k.name <=> m.name AND k.cookie <=> m.cookie
WHERE m.begins AND NOT COALESCE(m.is_open, FALSE)
UNION ALL
SELECT m._ts, m.line, k.track, m.name
FROM _events.`print|G` AS m
LEFT JOIN _parts.mark_tracks AS k
  ON k.kind = 'async' AND k.on_track = m.track AND k.pid <=> m.pid AND k.cookie <=> m.cookie
