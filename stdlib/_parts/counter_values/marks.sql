-- `C` marks.
-- formats: *
SELECT m._ts, m.line, k.track, m.value
FROM _events.`print|C` AS m
LEFT JOIN _parts.mark_tracks AS k ON k.kind = 'counter' AND k.pid <=> m.pid AND k.name <=> m.name
