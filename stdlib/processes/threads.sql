-- The threads that the trace knows, with their processes and all names that they had. Names are from switches, wakeups, marks, forks and renames. Without a column of processes in the trace, the process is known of threads that write marks, which name it. The idle threads are left out.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- column tid: the thread
-- column tgid: its process, or NULL
-- column name: its last name, or NULL
-- column names: all its names in order of first appearance, separated by `, `
-- column first_seen: when it is first named
-- column last_seen: when it is last named
WITH seen AS (
  SELECT _ts, tid, pid AS tgid, 1 AS trust, NULL::STRING AS name FROM events
  UNION ALL SELECT _ts, prev_pid, NULL, 0, prev_comm FROM _events.sched_switch
  UNION ALL SELECT _ts, next_pid, NULL, 0, next_comm FROM _events.sched_switch
  UNION ALL SELECT _ts, pid, NULL, 0, comm FROM _events.sched_waking
  UNION ALL SELECT _ts, pid, NULL, 0, comm FROM _events.sched_wakeup
  UNION ALL SELECT _ts, pid, NULL, 0, comm FROM _events.sched_wakeup_new
  UNION ALL SELECT _ts, common_pid, NULL, 0, common_comm FROM _events.sched_waking
  UNION ALL SELECT _ts, common_pid, NULL, 0, common_comm FROM _events.sched_wakeup
  UNION ALL SELECT _ts, common_pid, NULL, 0, common_comm FROM _events.sched_process_fork
  UNION ALL SELECT _ts, child_pid, NULL, 0, child_comm FROM _events.sched_process_fork
  UNION ALL SELECT _ts, common_pid, NULL, 0, common_comm FROM _events.sched_process_exec
  UNION ALL SELECT _ts, pid, NULL, 0, comm FROM _events.sched_process_exit
  UNION ALL SELECT _ts, pid, NULL, 0, comm FROM _events.task_newtask
  UNION ALL SELECT _ts, pid, NULL, 0, newcomm FROM _events.task_rename
  UNION ALL SELECT _ts, common_pid, pid, 0, common_comm FROM _events.`print|B`
  UNION ALL SELECT _ts, common_pid, NULL, 0, common_comm FROM _events.`print|E`
  UNION ALL SELECT _ts, common_pid, pid, 0, common_comm FROM _events.`print|C`
  UNION ALL SELECT _ts, common_pid, pid, 0, common_comm FROM _events.`print|S`
),
named AS (
  SELECT tid, name, MIN(_ts) AS first_named, MAX(_ts) AS last_named
  FROM seen WHERE name NOT IN ('<...>', '') GROUP BY tid, name
),
names AS (
  SELECT tid, STRING_AGG(name, ', ' ORDER BY first_named, last_named, name) AS names,
    LAST(name ORDER BY last_named, first_named, name) AS name
  FROM named GROUP BY tid
),
threads AS (
  SELECT tid, LAST(tgid ORDER BY trust, _ts, tgid) FILTER (WHERE tgid > 0) AS tgid,
    MIN(_ts) AS first_seen, MAX(_ts) AS last_seen
  FROM seen WHERE tid > 0 GROUP BY tid
)
SELECT threads.tid, tgid, name, names, first_seen, last_seen
FROM threads LEFT JOIN names ON names.tid = threads.tid
ORDER BY threads.tid
