-- What each thread does: one span from a change of its state to the next one, see `scheduler.state_changes`. The last state of a thread lasts until the last event of the kernel; before its first event, after it ended, and where events are missing, a thread has none. States that begin and end at the same time are left out.
-- formats: *
-- column tid: the thread
-- column state: `running`, `runnable` (it waits for a CPU), `sleeping` or `uninterruptible`
-- column cpu: the CPU it runs on while running
-- column comm: the thread's name when the state began
-- column kernel_state: the state in which it was switched out, as the kernel names it: `R+` is preempted
-- column woken: whether it is runnable since it was woken
-- column waker_tid: what ran where it was woken, 0 when idle
-- column waker_context: `interrupt` if an interrupt woke it, `thread` if `waker_tid` did, NULL if the trace does not tell
-- column ended_by_tid: what ran where the wakeup happened that ended its sleep
-- column ended_by_context: `interrupt` if an interrupt ended it, `thread` if `ended_by_tid` did, NULL if the trace does not tell
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
