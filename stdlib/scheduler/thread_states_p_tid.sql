-- State of each thread: one span from each change to the next; see `scheduler.state_changes`. The last state of a thread lasts until the last kernel event. A thread has no state before its first event, after its end, and where events are missing. Zero-length states are left out.
-- formats: *
-- column tid: the thread
-- column state: `running`, `runnable` (waiting for a CPU), `sleeping` or `uninterruptible`
-- column cpu: the CPU that it runs on while running
-- column comm: the thread's name when the state began
-- column kernel_state: the kernel's name of the state in which it was switched out: `R+` is preempted
-- column woken: whether it is runnable because it was woken
-- column waker_tid: the thread that ran where it was woken, 0 when idle
-- column waker_context: `interrupt` if an interrupt woke it, `thread` if `waker_tid` did, NULL if unknown
-- column ended_by_tid: the thread that ran where its sleep was ended by a wakeup
-- column ended_by_context: `interrupt` if an interrupt ended it, `thread` if `ended_by_tid` did, NULL if unknown
WITH ending AS (
  SELECT _ts, COALESCE(end_ts, (SELECT _ts FROM _built.kernel_end)) AS end_ts, tid, state,
    CASE WHEN state = 'running' THEN cpu END AS cpu, comm, kernel_state, woken, waker_tid, waker_context, ended_by_tid,
    ended_by_context
  FROM scheduler.states
  WHERE state NOT IN ('ended', 'unknown')
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT * FROM ending WHERE end_ts > _ts),
  end=>"end_ts",
  partition=>"tid",
)
