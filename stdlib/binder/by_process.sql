-- Which processes called which others by binder, how often and how long; see `binder.transactions`.
-- formats: *
-- column pid: the caller's process, NULL if the trace does not tell
-- column to_pid: the process that is called
-- column calls: how many calls
-- column one_way: how many of them ask for no reply
-- column unanswered: how many others are not seen to get one
-- column time: how long the others took
-- column mean: how long on average
-- column longest: the longest one
SELECT pid, to_pid, COUNT(*) AS calls, COUNT(*) FILTER (WHERE one_way) AS one_way,
  COUNT(*) FILTER (WHERE NOT one_way AND _duration IS NULL) AS unanswered,
  COALESCE(SUM(_duration) FILTER (WHERE NOT one_way), 0ns) AS time, AVG(_duration) FILTER (WHERE NOT one_way) AS mean,
  MAX(_duration) FILTER (WHERE NOT one_way) AS longest
FROM binder.transactions
GROUP BY pid, to_pid
ORDER BY time DESC, pid, to_pid
