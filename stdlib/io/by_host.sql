-- Input and output by machine, see `io.calls`. Busy is the time in which at least one call was under way; it is shorter than the time of all calls added up where they overlap.
-- formats: *
-- column hostname: the machine, NULL if the trace does not tell
-- column calls: how many calls there were
-- column bytes_read: how many bytes were read
-- column bytes_written: how many bytes were written
-- column time: how long the calls took, added up
-- column busy: how long at least one was under way
-- column most: how many were under way at once, at most
-- column read_rate: bytes read by busy time
-- column write_rate: bytes written by busy time
WITH sums AS (
  SELECT hostname, COUNT(*) AS calls, COALESCE(SUM(bytes) FILTER (WHERE direction = 'read'), 0B) AS bytes_read,
    COALESCE(SUM(bytes) FILTER (WHERE direction = 'write'), 0B) AS bytes_written, COALESCE(SUM(_duration), 0ns) AS time
  FROM io.calls GROUP BY hostname
),
open AS (
  SELECT hostname, SUM(_duration) AS busy, MAX(open) AS most
  FROM dctv.concurrency((SELECT _ts, _duration, hostname FROM io.calls WHERE _duration > 0ns), partition=>["hostname"])
  GROUP BY hostname
)
SELECT sums.hostname, calls, bytes_read, bytes_written, time, COALESCE(busy, 0ns) AS busy, COALESCE(most, 0) AS most,
  bytes_read / NULLIF(busy, 0ns) AS read_rate, bytes_written / NULLIF(busy, 0ns) AS write_rate
FROM sums LEFT JOIN open ON open.hostname <=> sums.hostname
ORDER BY time DESC, sums.hostname
