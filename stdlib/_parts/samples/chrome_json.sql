-- Events of phase P, and rows of `samples`.
-- formats: chrome-json
SELECT s._ts, s.line, s.tid, s.pid, s.cpu, s.name AS `event`, CAST(s.weight AS INT64) AS period, f.stack
FROM _events.sample AS s LEFT JOIN _tables.stack_frames AS f ON f.id = s.sf
