-- Every time that a thread left its CPU though it could run on: one event for each, with what took its place.
-- formats: *
-- column cpu: the CPU
-- column tid: the thread
-- column comm: its name
-- column by_tid: the thread that ran in its place
-- column by_comm: its name
-- column prio: the thread's priority, as the kernel says: less is more urgent
-- column by_prio: that of the other thread
-- column kind: `preempted` (the kernel says `R+`), or `yielded`: it left by itself, or the kernel does not tell them apart
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, cpu, prev_pid AS tid, prev_comm AS comm, next_pid AS by_tid, next_comm AS by_comm, prev_prio AS prio,
    next_prio AS by_prio,
    CASE WHEN prev_state LIKE '%+' OR prev_state REGEXP '^[0-9]+$' AND prev_state::INT64 != 0 THEN 'preempted'
      ELSE 'yielded' END AS kind
  FROM _events.sched_switch
  WHERE prev_pid != 0 AND next_pid != 0 AND prev_pid != next_pid AND (
    prev_state REGEXP '^(R|W|TASK_RUNNING|TASK_WAKING)'
    OR prev_state REGEXP '^[0-9]+$' AND prev_state::INT64 & 255 = 0)
  ORDER BY _ts, line
))
