-- What each thread does: one span from a change of its state to the next one, see `scheduler.state_changes`. The last state of a thread lasts until the trace's end; before its first event, after it ended, and where events are missing, a thread has none. States that begin and end at the same time are left out.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- column tid: the thread
-- column state: `running`, `runnable` (it waits for a CPU), `sleeping` or `uninterruptible`
-- column cpu: the CPU it runs on while running
-- column comm: the thread's name when the state began
-- column kernel_state: the state in which it was switched out, as the kernel names it: `R+` is preempted
WITH lasting AS (
  SELECT _ts, LEAD(_ts) OVER (PARTITION BY tid ORDER BY _ts, line) AS next_ts, tid, state,
    CASE WHEN state = 'running' THEN cpu END AS cpu, comm, kernel_state
  FROM scheduler.state_changes
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, COALESCE(next_ts, (SELECT _ts FROM last_ts)) AS end_ts, tid, state, cpu, comm, kernel_state
   FROM lasting
   WHERE state NOT IN ('ended', 'unknown') AND COALESCE(next_ts, (SELECT _ts FROM last_ts)) > _ts),
  end=>"end_ts",
  partition=>"tid",
)
