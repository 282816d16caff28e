-- All events without a duration.
-- formats: dftracer
SELECT e._ts, t.track, e.name, e.category, e.args
FROM (SELECT _ts, pid, tid, name, category, args, JSON_EXTRACT_STRING(args, 'hostname') AS host
      FROM events WHERE _duration IS NULL) AS e
JOIN _parts.tracks AS t ON t.tid = e.tid AND t.pid = e.pid AND t.host <=> e.host
