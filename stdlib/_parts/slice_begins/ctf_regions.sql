-- Score-P regions, with the names that its definitions give.
-- formats: ctf
SELECT e._ts, e.line, e.locationID AS track, s.stringValue AS name
FROM _events.Event_Enter AS e
LEFT JOIN _events.GlobalDef_Region AS r ON r.self = e.region
LEFT JOIN _events.GlobalDef_String AS s ON s.self = r.name
