-- How often each event is there: a trace that has fewer of them may show less of the same.
-- formats: *
-- better none: events
SELECT name, COUNT(*) AS events FROM t.events GROUP BY name ORDER BY name
