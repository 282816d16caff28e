-- Garbage collections of each process. See `gc.collections`. Only the outermost slices count, and waits for a collection are counted separately.
-- formats: *
-- column pid: the process
-- column process: its name
-- column collections: number of collections
-- column major: number of collections of the whole heap
-- column minor: number of collections of the young generation
-- column time: total duration, summed over all threads
-- column longest: duration of the longest collection
-- column waits: number of waits of threads for a collection
-- column waited: total duration of these waits
SELECT pid, MAX(process) AS process, COUNT(*) FILTER (WHERE outermost AND kind != 'wait') AS collections,
  COUNT(*) FILTER (WHERE outermost AND kind = 'major') AS major, COUNT(*) FILTER (WHERE outermost AND kind = 'minor') AS minor,
  COALESCE(SUM(_duration) FILTER (WHERE outermost AND kind != 'wait'), 0ns) AS time,
  MAX(_duration) FILTER (WHERE outermost AND kind != 'wait') AS longest,
  COUNT(*) FILTER (WHERE kind = 'wait') AS waits, COALESCE(SUM(_duration) FILTER (WHERE kind = 'wait'), 0ns) AS waited
FROM gc.collections
GROUP BY pid
ORDER BY time DESC, pid
