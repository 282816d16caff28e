-- Wakeups that made a thread runnable, with their wakers. `sched_waking`, `sched_wakeup` and `sched_wakeup_new` together count once; see `scheduler.state_changes`.
-- formats: *
-- column tid: the thread that was woken
-- column comm: its name
-- column waker_tid: the thread that ran where the wakeup happened, 0 when idle
-- column waker_comm: its name, or NULL
-- column waker_context: `interrupt` if an interrupt woke it (then `waker_tid` is not the cause), `thread` if not, NULL if unknown
-- column target_cpu: the CPU on which it will run
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, waker_tid, waker_comm, waker_context, cpu AS target_cpu
  FROM scheduler.states WHERE woken ORDER BY _ts, line, tid
))
