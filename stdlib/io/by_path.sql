-- Input and output by path. See `io.calls`.
-- formats: *
-- column path: the path, NULL for calls without one
-- column calls: number of calls
-- column reads: number of calls that read
-- column writes: number of calls that write
-- column bytes_read: bytes read
-- column bytes_written: bytes written
-- column time: total duration of the calls, summed over all threads
-- column processes: number of processes that made them
-- column first_ts: start of the first call
-- column last_ts: start of the last call
SELECT path, COUNT(*) AS calls,
  COUNT(*) FILTER (WHERE direction = 'read') AS reads,
  COUNT(*) FILTER (WHERE direction = 'write') AS writes,
  COALESCE(SUM(bytes) FILTER (WHERE direction = 'read'), 0B) AS bytes_read,
  COALESCE(SUM(bytes) FILTER (WHERE direction = 'write'), 0B) AS bytes_written,
  COALESCE(SUM(_duration), 0ns) AS time,
  COUNT(DISTINCT COALESCE(hostname, '') || ' ' || pid::STRING) AS processes,
  MIN(_ts) AS first_ts, MAX(_ts) AS last_ts
FROM io.calls
GROUP BY path
ORDER BY time DESC, path
