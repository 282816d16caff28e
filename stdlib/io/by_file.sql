-- Input and output by file. See `io.calls`. Busy time is the time with at least one call in progress; if calls overlap, it is shorter than the sum of their durations.
-- formats: *
-- column path: the file, NULL for calls whose file is unknown
-- column calls: number of calls
-- column bytes_read: bytes read
-- column bytes_written: bytes written
-- column time: total duration of the calls
-- column busy: time with at least one call in progress
-- column most: maximum number of calls in progress at once
-- column read_rate: read throughput over the busy time
-- column write_rate: write throughput over the busy time
WITH sums AS (
  SELECT path, COUNT(*) AS calls, COALESCE(SUM(bytes) FILTER (WHERE direction = 'read'), 0B) AS bytes_read,
    COALESCE(SUM(bytes) FILTER (WHERE direction = 'write'), 0B) AS bytes_written, COALESCE(SUM(_duration), 0ns) AS time
  FROM io.calls GROUP BY path
),
open AS (
  SELECT path, SUM(_duration) AS busy, MAX(open) AS most
  FROM dctv.concurrency((SELECT _ts, _duration, path FROM io.calls WHERE _duration > 0ns), partition=>["path"])
  GROUP BY path
)
SELECT sums.path, calls, bytes_read, bytes_written, time, COALESCE(busy, 0ns) AS busy, COALESCE(most, 0) AS most,
  bytes_read / NULLIF(busy, 0ns) AS read_rate, bytes_written / NULLIF(busy, 0ns) AS write_rate
FROM sums LEFT JOIN open ON open.path <=> sums.path
ORDER BY time DESC, sums.path
