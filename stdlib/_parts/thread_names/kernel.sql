-- Names of threads from switches, wakeups, forks, renames and marks; later ones win.
-- formats: *
WITH events AS (
  SELECT _ts, line, next_pid AS tid, NULL::INT64 AS pid, next_comm AS name, NULL::INT64 IN ns AS born, NULL::INT64 IN ns AS died,
    NULL::INT64 IN ns AS freed, NULL::INT64 AS maker
  FROM _events.sched_switch
  UNION ALL SELECT _ts, line, prev_pid, CASE WHEN common_pid = prev_pid AND common_tgid > 0 THEN common_tgid END, prev_comm, NULL, NULL, NULL, NULL
  FROM _events.sched_switch
  UNION ALL SELECT _ts, line, pid, NULL, comm, NULL, NULL, NULL, NULL FROM _events.sched_waking
  UNION ALL SELECT _ts, line, pid, NULL, comm, NULL, NULL, NULL, NULL FROM _events.sched_wakeup
  UNION ALL SELECT _ts, line, pid, NULL, comm, NULL, NULL, NULL, NULL FROM _events.sched_wakeup_new
  -- Only LTTng records the processes of a new thread and of its parent.
  UNION ALL SELECT _ts, line, COALESCE(child_tid, child_pid), CASE WHEN child_tid IS NOT NULL THEN child_pid END, child_comm, _ts, NULL, NULL,
    COALESCE(parent_tid, parent_pid, pid, common_pid)
  FROM _events.sched_process_fork
  UNION ALL SELECT _ts, line, parent_tid, parent_pid, NULL, NULL, NULL, NULL, NULL FROM _events.sched_process_fork
  WHERE parent_tid IS NOT NULL
  -- A thread that calls exec becomes the only thread of its process, and its main thread.
  UNION ALL SELECT _ts, line, COALESCE(pid, common_pid), COALESCE(pid, common_pid), NULL, NULL, NULL, NULL, NULL FROM _events.sched_process_exec
  UNION ALL SELECT _ts, line, pid, CASE WHEN common_pid = pid AND common_tgid > 0 THEN common_tgid END, comm, NULL, _ts, NULL, NULL FROM _events.sched_process_exit
  UNION ALL SELECT _ts, line, pid, NULL, comm, NULL, NULL, _ts, NULL FROM _events.sched_process_free
  UNION ALL SELECT _ts, line, pid, NULL, comm, _ts, NULL, NULL, NULL FROM _events.task_newtask
  UNION ALL SELECT _ts, line, pid, NULL, newcomm, NULL, NULL, NULL, NULL FROM _events.task_rename
  UNION ALL SELECT _ts, line, common_pid, common_tgid, common_comm, NULL, NULL, NULL, NULL FROM _events.sched_waking
  UNION ALL SELECT _ts, line, common_pid, common_tgid, common_comm, NULL, NULL, NULL, NULL FROM _events.sched_process_fork
  UNION ALL SELECT _ts, line, common_pid, common_tgid, common_comm, NULL, NULL, NULL, NULL FROM _events.sched_process_exec
  UNION ALL SELECT _ts, line, common_pid, pid, common_comm, NULL, NULL, NULL, NULL FROM _events.`print|B`
  UNION ALL SELECT _ts, line, common_pid, pid, common_comm, NULL, NULL, NULL, NULL FROM _events.`print|E`
  UNION ALL SELECT _ts, line, common_pid, pid, common_comm, NULL, NULL, NULL, NULL FROM _events.`print|C`
  UNION ALL SELECT _ts, line, common_pid, pid, common_comm, NULL, NULL, NULL, NULL FROM _events.`print|S`
  UNION ALL SELECT _ts, line, to_thread, to_proc, NULL, NULL, NULL, NULL, NULL FROM _events.binder_transaction
  UNION ALL SELECT _ts, line, tid, pid, name, NULL, NULL, NULL, NULL FROM _events.lttng_statedump_process_state
),
found AS (
  SELECT tid, MAX(CASE WHEN pid > 0 THEN pid END) AS pid, CASE WHEN name NOT IN ('<...>', '') THEN name END AS name, MAX(_ts) AS last_ts, MAX(line) AS last_line,
    MIN(born) AS start_ts, COALESCE(MAX(died), MAX(freed)) AS end_ts, MAX(maker) AS maker
  FROM events WHERE tid > 0
  GROUP BY tid, CASE WHEN name NOT IN ('<...>', '') THEN name END
)
SELECT tid, pid, name, ROW_NUMBER() OVER (ORDER BY last_ts, last_line) AS rank, start_ts, end_ts, maker FROM found
