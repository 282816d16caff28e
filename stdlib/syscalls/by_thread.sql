-- System calls of each thread by name, with counts and times. See `syscalls.calls`.
-- formats: *
-- column tid: the thread
-- column comm: its name, or NULL
-- column name: the call
-- column calls: number of calls
-- column failed: number of calls that returned an error
-- column time: total duration of the calls with a known end
-- column longest: the longest duration
SELECT tid, MAX(comm) AS comm, name, COUNT(*) AS calls, COUNT(*) FILTER (WHERE failed) AS failed,
  COALESCE(SUM(_duration), 0ns) AS time, MAX(_duration) AS longest
FROM syscalls.calls
GROUP BY tid, name
ORDER BY time DESC, tid, name
