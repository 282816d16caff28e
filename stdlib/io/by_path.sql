-- What was done with each file, see `io.calls`.
-- formats: *
-- column path: the file, NULL for calls that name none
-- column calls: how many calls there were
-- column reads: how many of them were to read
-- column writes: how many of them were to write
-- column bytes_read: how many bytes were read
-- column bytes_written: how many bytes were written
-- column time: how long the calls took, those of all threads added up
-- column processes: how many processes made them
-- column first_ts: when the first one began
-- column last_ts: when the last one began
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
