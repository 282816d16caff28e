-- Critical path of a thread: what it waited for during an interval. While it sleeps, the path continues in the thread that woke it, and so on back in time. Every moment is in exactly one row. A sleep is not followed if an interrupt ended it, if its waker is unknown, or if it does not end in the trace.
-- formats: *
-- parameter thread: the thread's id
-- parameter start ns = NULL: start of the interval; NULL for the begin of the trace
-- parameter duration ns = NULL: length of the interval; NULL for the rest of the trace
-- column tid: the thread responsible for this time
-- column comm: its name
-- column state: its state: `running`, `runnable` (waiting for a CPU), `sleeping`, `uninterruptible`, `ended`, or `unknown`
-- column cpu: the CPU that it ran on
-- column depth: number of wakeups between it and the analysed thread, 0 for that thread itself
-- column reason: why a sleep is not followed: `interrupt` (a device or timer ended it), `unknown waker`, `still waiting` (it does not end in the trace), `circle` (its waker was itself waiting for a later wakeup, so events are missing or out of order), or `no events` for unknown states
SELECT SPAN tid, comm, CASE WHEN state = 'running' THEN cpu END AS cpu, state, depth, reason FROM dctv.as_spans((
  SELECT path._ts, path._duration, path.tid, names.comm, path.state, path.cpu, path.depth, path.reason
  FROM dctv.critical_path(scheduler.states, thread=>:thread,
    start=>(SELECT COALESCE(:start IN ns, _ts) FROM _built.begin),
    duration=>(SELECT GREATEST(COALESCE(:duration IN ns, (SELECT _ts FROM last_ts) + 1ns - COALESCE(:start IN ns, _ts)), 1ns) FROM _built.begin)
  ) AS path
  LEFT JOIN (SELECT tid, ARG_MAX(comm, _ts) AS comm FROM scheduler.states GROUP BY tid) AS names ON names.tid = path.tid
  ORDER BY path._ts
))
