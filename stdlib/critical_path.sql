-- What one thread had to wait for in a stretch of time: where it slept and another thread woke it, what that one did meanwhile, and so on back. Every moment is in exactly one row. A sleep is not followed where an interrupt ended it, where nobody knows who ended it, or where the trace has no end of it.
-- formats: *
-- parameter thread: the thread's id
-- parameter start ns = 0ns: when to begin
-- parameter duration ns = NULL: for how long; to the end of the trace without it
-- column tid: the thread that was responsible for the time
-- column comm: its name
-- column state: what it did: `running`, `runnable` (it waited for a CPU), `sleeping`, `uninterruptible`, or `unknown`
-- column cpu: where it ran
-- column depth: over how many wakeups that is from the thread, 0 for itself
-- column reason: why a sleep is not explained: `interrupt` (a device or timer ended it), `unknown waker`, `still waiting` (it does not end in the trace), `circle` (whoever ended it waited for a later wakeup, so events are missing or out of order), or `no events` for unknown states
SELECT SPAN tid, comm, CASE WHEN state = 'running' THEN cpu END AS cpu, state, depth, reason FROM dctv.as_spans((
  SELECT path._ts, path._duration, path.tid, names.comm, path.state, path.cpu, path.depth, path.reason
  FROM dctv.critical_path(scheduler.states, thread=>:thread, start=>:start, duration=>(
    SELECT GREATEST(COALESCE(:duration IN ns, (SELECT _ts FROM last_ts) + 1ns - (:start IN ns)), 1ns))) AS path
  LEFT JOIN (SELECT tid, ARG_MAX(comm, _ts) AS comm FROM scheduler.states GROUP BY tid) AS names ON names.tid = path.tid
  ORDER BY path._ts
))
