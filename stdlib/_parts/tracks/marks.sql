-- Threads, counters and cookies of marks.
-- formats: *
SELECT -1 - common_pid AS track, 'thread' AS kind, NULL::STRING AS name, MAX(pid) AS pid, common_pid AS tid
FROM (
  SELECT common_pid, pid FROM _events.`print|B`
  UNION ALL SELECT common_pid, NULL FROM _events.`print|E`
  UNION ALL SELECT common_pid, pid FROM _events.`print|I`
  UNION ALL SELECT common_pid, pid FROM _events.`print|N`
)
GROUP BY common_pid
UNION ALL
SELECT track, kind, COALESCE(on_track, name), pid, NULL FROM _parts.mark_tracks
