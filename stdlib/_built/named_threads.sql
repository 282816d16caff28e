-- Threads and processes that events name, with the names that these give them, and when they do so last.
-- formats: *
SELECT common_pid AS tid, common_tgid AS pid, common_comm AS name, MAX(_ts) AS last_ts
FROM _events.any
GROUP BY common_pid, common_tgid, common_comm
