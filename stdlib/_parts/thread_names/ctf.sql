-- Names of threads with instrumented functions, and of Score-P locations.
-- formats: ctf
SELECT common_pid AS tid, MAX(common_tgid) AS pid, common_comm AS name, UNITLESS(MAX(_ts)) AS rank
FROM _events.func_entry GROUP BY common_pid, common_comm
UNION ALL
SELECT l.self, l.locationGroup, s.stringValue, 0
FROM _events.GlobalDef_Location AS l JOIN _events.GlobalDef_String AS s ON s.self = l.name
