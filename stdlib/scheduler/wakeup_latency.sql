-- Wakeup latency of threads: one event for each wakeup after which the thread ran, at the time of the wakeup; see `scheduler.state_changes` for the wakeups that count.
-- formats: *
-- column tid: the thread that was woken
-- column comm: its name
-- column latency: time from the wakeup until it runs
-- column cpu: the CPU that it runs on next
-- column waker_tid: the thread that ran where the wakeup happened, 0 when idle; if an interrupt woke the thread, it is not the cause
-- column waker_comm: its name
-- column waker_context: `interrupt` if an interrupt woke it (then `waker_tid` is not the cause), `thread` if not, NULL if unknown
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, end_ts - _ts AS latency, next_cpu AS cpu, waker_tid, waker_comm, waker_context
  FROM scheduler.states
  WHERE woken AND next_state = 'running'
  ORDER BY _ts, line
))
