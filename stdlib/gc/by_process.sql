-- How long processes collected garbage, see `gc.collections`: the outermost slices, without waiting for others.
-- formats: *
-- column pid: the process
-- column process: its name
-- column collections: how many
-- column major: how many of them are of the whole heap
-- column minor: how many of them are of the young part
-- column time: how long they took, those of all threads added up
-- column longest: the longest one
-- column waits: how often a thread waited for one
-- column waited: how long they waited
SELECT pid, MAX(process) AS process, COUNT(*) FILTER (WHERE outermost AND kind != 'wait') AS collections,
  COUNT(*) FILTER (WHERE outermost AND kind = 'major') AS major, COUNT(*) FILTER (WHERE outermost AND kind = 'minor') AS minor,
  COALESCE(SUM(_duration) FILTER (WHERE outermost AND kind != 'wait'), 0ns) AS time,
  MAX(_duration) FILTER (WHERE outermost AND kind != 'wait') AS longest,
  COUNT(*) FILTER (WHERE kind = 'wait') AS waits, COALESCE(SUM(_duration) FILTER (WHERE kind = 'wait'), 0ns) AS waited
FROM gc.collections
GROUP BY pid
ORDER BY time DESC, pid
