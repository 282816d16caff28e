-- Totals of each process: its events, and its input and output; see `io.calls`.
-- formats: dftracer
-- column hostname: the machine, NULL if the writer did not record it
-- column pid: the process
-- column command: its command, if the writer recorded it
-- column threads: number of its threads that have events
-- column events: number of events
-- column io_calls: number of input and output calls among them
-- column io_time: total duration of these, summed over all its threads
-- column bytes_read: bytes read
-- column bytes_written: bytes written
-- column first_ts: start of its first event
-- column last_ts: end of its last event
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
