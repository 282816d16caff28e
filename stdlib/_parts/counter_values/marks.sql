-- `C` marks. Values that are not whole have a column of their own where others are integers.
-- formats: *
SELECT m._ts, m.line, k.track, COALESCE(m.value, m.value_float) AS value
FROM _events.`print|C` AS m
LEFT JOIN _parts.mark_tracks AS k ON k.kind = 'counter' AND k.pid <=> m.pid AND k.name <=> m.name
