-- Preemptions of threads: one event each time that another thread replaced one that was still runnable. Where the CPU became idle instead, there is none.
-- formats: *
-- column cpu: the CPU
-- column tid: the thread
-- column comm: its name
-- column by_tid: the thread that replaced it
-- column by_comm: its name
-- column prio: the thread's priority, as recorded: lower is more urgent
-- column by_prio: priority of the thread that replaced it
-- column kind: `preempted` (state `R+`), or `yielded` (it yielded, or the kernel does not distinguish the two)
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, cpu, prev_pid AS tid, prev_comm AS comm, next_pid AS by_tid, next_comm AS by_comm, prev_prio AS prio,
    next_prio AS by_prio,
    CASE WHEN prev_state LIKE '%+' OR prev_state REGEXP '^([0-9]{1,18}|0x[0-9a-f]{1,15})$' AND prev_state::INT64 != 0 THEN 'preempted'
      ELSE 'yielded' END AS kind
  FROM _events.sched_switch
  WHERE prev_pid != 0 AND next_pid != 0 AND prev_pid != next_pid AND (
    prev_state REGEXP '^(R|W|TASK_RUNNING|TASK_WAKING)'
    OR prev_state REGEXP '^([0-9]{1,18}|0x[0-9a-f]{1,15})$' AND prev_state::INT64 & 255 = 0)
  ORDER BY _ts, line
))
