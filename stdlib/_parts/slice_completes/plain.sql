-- Rows with a duration, if the mount names the column.
-- formats: csv, json-lines, parquet, arrow, sqlite
SELECT e._ts, e._duration AS dur, t.track, e.name, e.category, e.args
FROM (SELECT _ts, _duration, pid, tid, name, category, args FROM events WHERE _duration IS NOT NULL) AS e
JOIN _parts.tracks AS t ON t.tid <=> e.tid AND t.pid <=> e.pid
