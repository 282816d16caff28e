-- How many samples each thread has, see `samples.samples`.
-- formats: *
-- column tid: the thread
-- column pid: its process, or NULL
-- column comm: its last name in the samples, or NULL
-- column event: what made the profiler take them; a reserved word, so write `event` in backticks
-- column samples: how many there are
-- column period: what they add up to, or NULL
-- column first_ts: when the first one was taken
-- column last_ts: when the last one was taken
SELECT tid, pid, LAST(comm ORDER BY _ts, comm) AS comm, `event`, COUNT(*) AS samples, SUM(period) AS period,
  MIN(_ts) AS first_ts, MAX(_ts) AS last_ts
FROM samples.samples GROUP BY tid, pid, `event`
ORDER BY samples DESC, tid, `event`
