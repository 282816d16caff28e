-- How long threads that could run waited for a CPU: one event for each wait that ended with the thread running, at the time when it began; see `scheduler.states`.
-- formats: *
-- column tid: the thread
-- column comm: its name
-- column latency: until it runs
-- column cpu: the CPU that it then runs on
-- column cause: `woken`, or `preempted` if it had to leave a CPU (or left it by itself, which older kernels do not tell apart)
-- column waker_tid: what ran where the wakeup happened, 0 when idle
-- column waker_context: `interrupt` if an interrupt woke it, `thread` if not, NULL if the trace does not tell
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, end_ts - _ts AS latency, next_cpu AS cpu, CASE WHEN woken THEN 'woken' ELSE 'preempted' END AS cause,
    waker_tid, waker_context
  FROM scheduler.states
  WHERE state = 'runnable' AND next_state = 'running'
  ORDER BY _ts, line, tid
))
