-- What each event says about a thread, apart from its state: `name`, `prio`, `cpu` (where it runs or will run), `parent` and `process`. Statedumps count only if nothing else is known.
-- formats: *
-- Thread `-1 - cpu` is the idle thread of a CPU. A thread that no longer exists has an empty name, and -99999 as its numbers.
SELECT _ts, line, 1 AS rank, CASE WHEN next_pid = 0 THEN -1 - cpu ELSE next_pid END AS thread, next_comm AS name, next_prio AS prio, cpu,
  NULL::INT64 AS parent, NULL::INT64 AS process, FALSE AS known_before
FROM _events.sched_switch
UNION ALL
SELECT _ts, line, 0, CASE WHEN prev_pid = 0 THEN -1 - cpu ELSE prev_pid END, prev_comm, prev_prio, cpu, NULL,
  CASE WHEN common_pid = prev_pid AND common_tgid > 0 AND common_tgid != prev_pid THEN common_tgid END, FALSE
FROM _events.sched_switch
UNION ALL
SELECT _ts, line, 0, pid, comm, prio, target_cpu, NULL, NULL, FALSE FROM _events.sched_waking WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, pid, comm, prio, target_cpu, NULL, NULL, FALSE FROM _events.sched_wakeup WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, pid, comm, prio, target_cpu, NULL, NULL, FALSE FROM _events.sched_wakeup_new WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, pid, comm, NULL, dest_cpu, NULL, NULL, FALSE FROM _events.sched_migrate_task WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, pid, comm, newprio, NULL, NULL, NULL, FALSE FROM _events.sched_pi_setprio WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, COALESCE(child_tid, child_pid), child_comm, NULL, NULL, COALESCE(parent_tid, parent_pid, pid),
  CASE WHEN child_pid != child_tid THEN child_pid END, FALSE
FROM _events.sched_process_fork
UNION ALL
-- The kernel keeps the first 15 characters of the program's name.
SELECT _ts, line, 0, COALESCE(pid, common_pid), SUBSTR(REGEXP_EXTRACT(filename, '[^/]*$'), 1, 15), NULL, NULL, NULL, NULL, FALSE
FROM _events.sched_process_exec
UNION ALL
SELECT _ts, line, 0, pid, newcomm, NULL, NULL, NULL, NULL, FALSE FROM _events.task_rename WHERE pid > 0
UNION ALL
SELECT _ts, line, 0, pid, '', -99999, -99999, -99999, -99999, FALSE FROM _events.sched_process_free
UNION ALL
SELECT _ts, line, 0, tid, name, NULL, NULL, ppid, CASE WHEN pid != tid THEN pid END, TRUE
FROM _events.lttng_statedump_process_state WHERE tid > 0
