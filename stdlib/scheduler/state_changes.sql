-- Changes of the states of threads, from switches and wakeups. A wakeup counts if the thread was asleep or its state unknown, so `sched_waking`, `sched_wakeup` and `sched_wakeup_new` together count once. Idle threads are left out.
-- formats: *
-- column line: the event's line in the trace, which orders equal times
-- column tid: the thread
-- column comm: its name at that time
-- column state: its new state: `running`, `runnable` (waiting for a CPU: woken, or switched out in state `R`, `R+` or `W`), `uninterruptible` (switched out in a state with `D`), `sleeping` (in any other state, such as `S`, `T`, `t`, `P` or `I`, which is 1026 as a number), `ended` (in a state with `X`, `x` or `Z`; as numbers, 16, 32 or 64, for LTTng also 128), or `unknown` (its CPU was switched from another thread, so events are missing)
-- column kernel_state: the kernel's name of the state, if the thread was switched out
-- column cpu: the CPU on which it was switched in or out, or will wake
-- column woken: whether a wakeup made it runnable
-- column waker_tid: the thread that ran where the wakeup happened, 0 when idle; if an interrupt woke the thread, it is not the cause
-- column waker_comm: its name
-- column waker_context: `interrupt` if an interrupt woke it (then `waker_tid` is not the cause), `thread` if not, NULL if unknown
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, line, tid, comm, state, kernel_state, cpu, woken, waker_tid, waker_comm, waker_context
  FROM scheduler.states
  ORDER BY _ts, line, state = 'running', tid
))
