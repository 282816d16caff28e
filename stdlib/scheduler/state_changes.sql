-- Every moment at which a thread's state changes, from switches and wakeups. A wakeup counts if the thread was asleep, or if nothing was known of it: so `sched_waking`, `sched_wakeup` and `sched_wakeup_new` together count once; the idle threads are left out.
-- formats: *
-- column line: the event's line in the trace, which orders equal times
-- column tid: the thread
-- column comm: its name then
-- column state: what it does from then on: `running`, `runnable` (waits for a CPU: woken, or switched out in state `R`, `R+` or `W`), `uninterruptible` (switched out in a state with `D`), `sleeping` (in any other state, such as `S`, `T`, `t`, `P` or `I`, which is 1026 as a number), `ended` (in a state with `X`, `x` or `Z`, or 16, 32 or 64 where states are numbers, 128 of LTTng), or `unknown` (its CPU was switched from another thread, so events are missing)
-- column kernel_state: the state as the kernel names it, if the thread was switched out
-- column cpu: the CPU it was switched in or out on, or is to wake on
-- column woken: whether a wakeup made it runnable
-- column waker_tid: what ran where the wakeup happened, 0 when idle; it may have been interrupted, and have nothing to do with it
-- column waker_comm: its name
-- column waker_context: `interrupt` if an interrupt woke it, which has nothing to do with `waker_tid`, `thread` if not, NULL if the trace does not tell
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, line, tid, comm, state, kernel_state, cpu, woken, waker_tid, waker_comm, waker_context
  FROM scheduler.states
  ORDER BY _ts, line, state = 'running', tid
))
