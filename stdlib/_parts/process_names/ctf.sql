-- Names of Score-P location groups.
-- formats: ctf
SELECT g.self AS pid, s.stringValue AS name
FROM _events.GlobalDef_LocationGroup AS g JOIN _events.GlobalDef_String AS s ON s.self = g.name
