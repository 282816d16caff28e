-- How long woken threads wait until they run: one event for each wakeup after which the thread ran, at the time of the wakeup; see `scheduler.state_changes` for which wakeups count.
-- formats: *
-- column tid: the thread that was woken
-- column comm: its name
-- column latency: from the wakeup until it runs
-- column cpu: the CPU that it then runs on
-- column waker_tid: what ran where the wakeup happened, 0 when idle; it may have been interrupted, and have nothing to do with it
-- column waker_comm: its name
-- column waker_context: `interrupt` if an interrupt woke it, which has nothing to do with `waker_tid`, `thread` if not, NULL if the trace does not tell
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, end_ts - _ts AS latency, next_cpu AS cpu, waker_tid, waker_comm, waker_context
  FROM scheduler.states
  WHERE woken AND next_state = 'running'
  ORDER BY _ts, line
))
