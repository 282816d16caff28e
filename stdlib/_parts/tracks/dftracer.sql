-- Threads, by host, process and thread.
-- formats: dftracer
SELECT ROW_NUMBER() OVER (ORDER BY host, pid, tid) AS track, 'thread' AS kind, pid, tid, host
FROM (SELECT DISTINCT JSON_EXTRACT_STRING(args, 'hostname') AS host, pid, tid FROM events)
