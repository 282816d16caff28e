-- What each thread did in the whole trace: time in each state, and how often and how late it was woken.
-- formats: *
-- column tid: the thread
-- column comm: its last name
-- column running: time on a CPU
-- column runnable: time spent waiting for a CPU
-- column sleeping: time asleep
-- column uninterruptible: time asleep without being interruptible, mostly waiting for disks
-- column timeslices: how often it ran for a time that the trace resolves
-- column wakeups: how often it was woken and then ran
-- column mean_latency: from a wakeup until it ran, on average
-- column max_latency: the longest time from a wakeup until it ran
-- column preemptions: how often it left a CPU though it could run on, see `scheduler.preemptions`
-- column migrations: how often it ran on another CPU than before
WITH states AS (
  SELECT tid, ARG_MAX(comm, _ts) AS comm,
    COALESCE(SUM(_duration) FILTER (WHERE state = 'running'), 0ns) AS running,
    COALESCE(SUM(_duration) FILTER (WHERE state = 'runnable'), 0ns) AS runnable,
    COALESCE(SUM(_duration) FILTER (WHERE state = 'sleeping'), 0ns) AS sleeping,
    COALESCE(SUM(_duration) FILTER (WHERE state = 'uninterruptible'), 0ns) AS uninterruptible,
    COUNT(*) FILTER (WHERE state = 'running') AS timeslices
  FROM scheduler.thread_states_p_tid GROUP BY tid
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
