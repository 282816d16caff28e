-- Threads that write marks: their numbers are their tracks.
-- formats: ftrace-text
SELECT common_pid AS track, 'thread' AS kind, MAX(pid) AS pid, common_pid AS tid
FROM (
  SELECT common_pid, pid FROM _events.`print|B`
  UNION ALL SELECT common_pid, NULL FROM _events.`print|E`
  UNION ALL SELECT common_pid, pid FROM _events.`print|I`
)
GROUP BY common_pid
