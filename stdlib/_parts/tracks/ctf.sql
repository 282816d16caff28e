-- Threads with instrumented functions, and Score-P locations, each of which is a thread of its group.
-- formats: ctf
SELECT common_pid AS track, 'thread' AS kind, MAX(common_tgid) AS pid, common_pid AS tid
FROM (
  SELECT common_pid, common_tgid FROM _events.func_entry
  UNION ALL SELECT common_pid, common_tgid FROM _events.func_exit
)
GROUP BY common_pid
UNION ALL
SELECT self, 'thread', MAX(locationGroup), self FROM _events.GlobalDef_Location GROUP BY self
