-- Names of threads in switches, wakeups, forks, renames and marks; later ones count.
-- formats: *
SELECT tid, MAX(pid) AS pid, name, UNITLESS(MAX(_ts)) AS rank, MIN(born) AS start_ts, MAX(died) AS end_ts
FROM (
  SELECT _ts, next_pid AS tid, NULL::INT64 AS pid, next_comm AS name, NULL::INT64 IN ns AS born, NULL::INT64 IN ns AS died
  FROM _events.sched_switch
  UNION ALL SELECT _ts, prev_pid, CASE WHEN common_pid = prev_pid AND common_tgid > 0 THEN common_tgid END, prev_comm, NULL, NULL
  FROM _events.sched_switch
  UNION ALL SELECT _ts, pid, NULL, comm, NULL, NULL FROM _events.sched_waking
  UNION ALL SELECT _ts, pid, NULL, comm, NULL, NULL FROM _events.sched_wakeup
  UNION ALL SELECT _ts, pid, NULL, comm, NULL, NULL FROM _events.sched_wakeup_new
  UNION ALL SELECT _ts, COALESCE(child_tid, child_pid), NULL, child_comm, _ts, NULL FROM _events.sched_process_fork
  UNION ALL SELECT _ts, pid, common_tgid, comm, NULL, _ts FROM _events.sched_process_exit
  UNION ALL SELECT _ts, pid, NULL, comm, _ts, NULL FROM _events.task_newtask
  UNION ALL SELECT _ts, pid, NULL, newcomm, NULL, NULL FROM _events.task_rename
  UNION ALL SELECT _ts, common_pid, common_tgid, common_comm, NULL, NULL FROM _events.sched_waking
  UNION ALL SELECT _ts, common_pid, common_tgid, common_comm, NULL, NULL FROM _events.sched_process_fork
  UNION ALL SELECT _ts, common_pid, common_tgid, common_comm, NULL, NULL FROM _events.sched_process_exec
  UNION ALL SELECT _ts, common_pid, pid, common_comm, NULL, NULL FROM _events.`print|B`
  UNION ALL SELECT _ts, common_pid, NULL, common_comm, NULL, NULL FROM _events.`print|E`
  UNION ALL SELECT _ts, common_pid, pid, common_comm, NULL, NULL FROM _events.`print|C`
  UNION ALL SELECT _ts, common_pid, pid, common_comm, NULL, NULL FROM _events.`print|S`
)
WHERE tid > 0 AND name NOT IN ('<...>', '')
GROUP BY tid, name
