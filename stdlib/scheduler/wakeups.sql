-- Every wakeup that made a thread runnable, with who woke whom: `sched_waking`, `sched_wakeup` and `sched_wakeup_new` together count once; see `scheduler.state_changes`.
-- formats: *
-- column tid: the thread that was woken
-- column comm: its name
-- column waker_tid: what ran where the wakeup happened, 0 when idle
-- column waker_comm: its name, if the event tells
-- column waker_context: `interrupt` if an interrupt woke it, which has nothing to do with `waker_tid`, `thread` if not, NULL if the trace does not tell
-- column target_cpu: the CPU on which it is to run
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, waker_tid, waker_comm, waker_context, cpu AS target_cpu
  FROM scheduler.states WHERE woken ORDER BY _ts, line, tid
))
