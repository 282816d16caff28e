-- Binder calls between processes: how many, and how long they took; see `binder.transactions`.
-- formats: *
-- column pid: the caller's process, NULL if unknown
-- column to_pid: the called process
-- column calls: number of calls
-- column one_way: number of one-way calls, which need no reply
-- column unanswered: number of other calls without a recorded reply
-- column time: total duration of the calls that have one
-- column mean: mean duration
-- column longest: duration of the longest call that has one
SELECT pid, to_pid, COUNT(*) AS calls, COUNT(*) FILTER (WHERE one_way) AS one_way,
  COUNT(*) FILTER (WHERE NOT one_way AND _duration IS NULL) AS unanswered,
  COALESCE(SUM(_duration) FILTER (WHERE NOT one_way), 0ns) AS time, AVG(_duration) FILTER (WHERE NOT one_way) AS mean,
  MAX(_duration) FILTER (WHERE NOT one_way) AS longest
FROM binder.transactions
GROUP BY pid, to_pid
ORDER BY time DESC, pid, to_pid
