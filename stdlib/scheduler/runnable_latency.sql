-- Waits of runnable threads for a CPU: one event for each wait after which the thread ran, at the time when the wait began; see `scheduler.states`.
-- formats: *
-- column tid: the thread
-- column comm: its name
-- column latency: time until it runs
-- column cpu: the CPU that it runs on next
-- column cause: `woken`, or `preempted` if it was preempted (or yielded, which older kernels do not distinguish)
-- column waker_tid: the thread that ran where the wakeup happened, 0 when idle
-- column waker_context: `interrupt` if an interrupt woke it, `thread` if not, NULL if unknown
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, end_ts - _ts AS latency, next_cpu AS cpu, CASE WHEN woken THEN 'woken' ELSE 'preempted' END AS cause,
    waker_tid, waker_context
  FROM scheduler.states
  WHERE state = 'runnable' AND next_state = 'running'
  ORDER BY _ts, line, tid
))
