-- Rows without a duration.
-- formats: csv, json-lines, parquet, arrow, sqlite
SELECT e._ts, t.track, e.name, e.category, e.args
FROM (SELECT _ts, pid, tid, name, category, args FROM events WHERE _duration IS NULL) AS e
JOIN _parts.tracks AS t ON t.tid <=> e.tid AND t.pid <=> e.pid
