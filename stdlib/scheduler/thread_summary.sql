-- Totals of each thread in the whole trace: time in each state, number of wakeups, and wakeup latency.
-- formats: *
-- column tid: the thread
-- column comm: its last name
-- column running: time on a CPU
-- column runnable: time spent waiting for a CPU
-- column sleeping: time asleep
-- column uninterruptible: time in uninterruptible sleep, mostly waiting for disks
-- column timeslices: number of timeslices of non-zero length
-- column wakeups: number of wakeups after which it ran
-- column mean_latency: mean time from a wakeup until it ran
-- column max_latency: maximum time from a wakeup until it ran
-- column preemptions: number of times that it left a CPU while still runnable, see `scheduler.preemptions`
-- column migrations: number of migrations to another CPU
WITH lasting AS (
  SELECT tid, comm, _ts, line, state, COALESCE(end_ts, (SELECT _ts FROM _built.kernel_end)) - _ts AS length FROM scheduler.states
),
states AS (
  SELECT tid, LAST(comm ORDER BY _ts, line) AS comm,
    COALESCE(SUM(length) FILTER (WHERE state = 'running'), 0ns) AS running,
    COALESCE(SUM(length) FILTER (WHERE state = 'runnable'), 0ns) AS runnable,
    COALESCE(SUM(length) FILTER (WHERE state = 'sleeping'), 0ns) AS sleeping,
    COALESCE(SUM(length) FILTER (WHERE state = 'uninterruptible'), 0ns) AS uninterruptible,
    COUNT(*) FILTER (WHERE state = 'running' AND length > 0ns) AS timeslices
  FROM lasting GROUP BY tid
),
woken AS (
  SELECT tid, COUNT(*) AS wakeups, AVG(latency) AS mean_latency, MAX(latency) AS max_latency
  FROM scheduler.wakeup_latency GROUP BY tid
),
displaced AS (SELECT tid, COUNT(*) AS preemptions FROM scheduler.preemptions GROUP BY tid),
moved AS (SELECT tid, COUNT(*) AS migrations FROM scheduler.migrations GROUP BY tid)
SELECT states.tid, comm, running, runnable, sleeping, uninterruptible, timeslices,
  COALESCE(wakeups, 0) AS wakeups, mean_latency, max_latency,
  COALESCE(preemptions, 0) AS preemptions, COALESCE(migrations, 0) AS migrations
FROM states LEFT JOIN woken ON woken.tid = states.tid
LEFT JOIN displaced ON displaced.tid = states.tid
LEFT JOIN moved ON moved.tid = states.tid
ORDER BY running DESC, states.tid
