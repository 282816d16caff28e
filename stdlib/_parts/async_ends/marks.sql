-- `F` and `H` marks.
-- formats: *
SELECT m._ts, m.line, k.track
FROM _events.`print|F` AS m
LEFT JOIN _parts.mark_tracks AS k
  ON k.kind = 'async' AND k.on_track IS NULL AND k.pid <=> m.pid AND k.name <=> m.name AND k.cookie <=> m.cookie
UNION ALL
SELECT m._ts, m.line, k.track
FROM _events.`print|H` AS m
LEFT JOIN _parts.mark_tracks AS k
  ON k.kind = 'async' AND k.on_track = m.track AND k.pid <=> m.pid AND k.cookie <=> m.cookie
