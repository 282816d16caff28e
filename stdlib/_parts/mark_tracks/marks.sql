-- Tracks of marks: counters by process and name, and cookies by process and name (of `S` marks) or track (of `G` marks).
-- formats: *
SELECT -4294967296 - ROW_NUMBER() OVER (ORDER BY kind, pid, on_track, name, cookie) AS track,
  kind, pid, on_track, name, cookie
FROM (
  SELECT 'counter' AS kind, pid, NULL::STRING AS on_track, name, NULL::STRING AS cookie FROM _events.`print|C`
  GROUP BY pid, name
  UNION ALL
  SELECT 'async', pid, NULL, name, cookie FROM _events.`print|S` GROUP BY pid, name, cookie
  UNION ALL
  SELECT 'async', pid, track, NULL, cookie FROM _events.`print|G` GROUP BY pid, track, cookie
)
