-- Threads that others waited for at monitors. See `locks.monitors`.
-- formats: *
-- column pid: the process
-- column owner_tid: the thread that held the locks, NULL if the marks do not name it
-- column owner: its name, if the marks have it
-- column waits: number of waits
-- column waiting: number of waiting threads
-- column time: total duration of the waits
-- column longest: the longest wait
SELECT pid, owner_tid, MAX(owner) AS owner, COUNT(*) AS waits, COUNT(DISTINCT tid) AS waiting, COALESCE(SUM(_duration), 0ns) AS time,
  MAX(_duration) AS longest
FROM locks.monitors
GROUP BY pid, owner_tid
ORDER BY time DESC, pid, owner_tid
