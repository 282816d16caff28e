-- What each thread called how often, and how long it took; see `syscalls.calls`.
-- formats: *
-- column tid: the thread
-- column comm: its name, if the trace tells
-- column name: the call
-- column calls: how often it was called
-- column failed: how often it returned an error
-- column time: how long calls with a known end took
-- column longest: the longest one
SELECT tid, MAX(comm) AS comm, name, COUNT(*) AS calls, COUNT(*) FILTER (WHERE failed) AS failed,
  COALESCE(SUM(_duration), 0ns) AS time, MAX(_duration) AS longest
FROM syscalls.calls
GROUP BY tid, name
ORDER BY time DESC, tid, name
