-- What each process did: its events, and its input and output, see `io.calls`.
-- formats: dftracer
-- column hostname: the machine, NULL if the writer did not record it
-- column pid: the process
-- column command: its command, if the writer recorded it
-- column threads: how many of its threads have events
-- column events: how many events it has
-- column io_calls: how many of them are calls of input and output
-- column io_time: how long those took, those of all its threads added up
-- column bytes_read: how many bytes it read
-- column bytes_written: how many bytes it wrote
-- column first_ts: when its first event began
-- column last_ts: when its last event ended
WITH everything AS (
  SELECT JSON_EXTRACT_STRING(args, 'hostname') AS hostname, pid, COUNT(*) AS events, COUNT(DISTINCT tid) AS threads,
    MIN(_ts) AS first_ts, MAX(_ts + COALESCE(_duration, 0ns)) AS last_ts
  FROM events GROUP BY JSON_EXTRACT_STRING(args, 'hostname'), pid
),
moved AS (
  SELECT hostname, pid, COUNT(*) AS io_calls, SUM(_duration) AS io_time,
    SUM(bytes) FILTER (WHERE direction = 'read') AS bytes_read,
    SUM(bytes) FILTER (WHERE direction = 'write') AS bytes_written
  FROM io.calls GROUP BY hostname, pid
),
started AS (SELECT hostname, pid, MIN(cmd) AS command FROM _events.start GROUP BY hostname, pid)
SELECT everything.hostname, everything.pid, command, threads, events, COALESCE(io_calls, 0) AS io_calls, COALESCE(io_time, 0ns) AS io_time,
  COALESCE(bytes_read, 0B) AS bytes_read, COALESCE(bytes_written, 0B) AS bytes_written, first_ts, last_ts
FROM everything
LEFT JOIN moved ON moved.hostname <=> everything.hostname AND moved.pid <=> everything.pid
LEFT JOIN started ON started.hostname <=> everything.hostname AND started.pid <=> everything.pid
ORDER BY everything.hostname, everything.pid
