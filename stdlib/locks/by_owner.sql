-- Who made others wait for monitors, see `locks.monitors`.
-- formats: *
-- column pid: the process
-- column owner_tid: the thread that had locks, NULL where marks do not tell
-- column owner: its name, if marks tell
-- column waits: how often others waited for it
-- column waiting: how many threads did
-- column time: how long they waited, added up
-- column longest: the longest wait
SELECT pid, owner_tid, MAX(owner) AS owner, COUNT(*) AS waits, COUNT(DISTINCT tid) AS waiting, COALESCE(SUM(_duration), 0ns) AS time,
  MAX(_duration) AS longest
FROM locks.monitors
GROUP BY pid, owner_tid
ORDER BY time DESC, pid, owner_tid
