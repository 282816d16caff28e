-- Commands that the writer recorded.
-- formats: dftracer
SELECT pid, MIN(cmd) AS name, hostname AS host FROM _events.start GROUP BY hostname, pid
