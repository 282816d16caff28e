-- All events with a duration.
-- formats: dftracer
SELECT e._ts, e._duration AS dur, t.track, e.name, e.category, e.args
FROM (SELECT _ts, _duration, pid, tid, name, category, args, JSON_EXTRACT_STRING(args, 'hostname') AS host
      FROM events WHERE _duration IS NOT NULL) AS e
JOIN _parts.tracks AS t ON t.tid = e.tid AND t.pid = e.pid AND t.host <=> e.host
