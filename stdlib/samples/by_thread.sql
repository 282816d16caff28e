-- Samples of each thread. See `samples.samples`.
-- formats: *
-- column tid: the thread
-- column pid: its process, or NULL
-- column comm: its last name in the samples, or NULL
-- column event: the sampled event; a reserved word, so write `event` in backticks
-- column samples: number of samples
-- column period: sum of their periods, or NULL
-- column first_ts: time of the first sample
-- column last_ts: time of the last sample
SELECT tid, pid, LAST(comm ORDER BY _ts, comm) AS comm, `event`, COUNT(*) AS samples, SUM(period) AS period,
  MIN(_ts) AS first_ts, MAX(_ts) AS last_ts
FROM samples.samples GROUP BY tid, pid, `event`
ORDER BY samples DESC, tid, `event`
