-- System calls, with the thread's next entry or exit, which may belong to another call. Arguments are in `fd`, `count` and `filename` if they have names, otherwise in `list`; `args` has all of them, and is slow to build.
-- formats: *
WITH steps AS (
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'number' AS kind, id AS number, NULL::STRING AS name, args,
    args AS list, NULL::INT64 AS fd, NULL::INT64 AS count, NULL::STRING AS filename, NULL::STRING AS ret, TRUE AS entry
  FROM _events.sys_enter
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'number', id, NULL, NULL, NULL, NULL, NULL, NULL, ret, FALSE
  FROM _events.sys_exit
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'name', NULL, name, args::STRING, NULL, fd, count, filename, NULL, TRUE
  FROM _events.syscall_enters
  UNION ALL
  SELECT _ts, line, cpu, common_pid, common_tgid, common_comm, 'name', NULL, name, NULL, NULL, NULL, NULL, NULL, ret, FALSE
  FROM _events.syscall_exits
),
known AS (
  SELECT steps.*, common_pid AS tid FROM steps WHERE common_pid IS NOT NULL
  UNION ALL
  SELECT steps.*, switches.next_pid
  FROM (SELECT * FROM steps WHERE common_pid IS NULL) AS steps
  ASOF LEFT JOIN (SELECT _ts, cpu, MAX(next_pid) AS next_pid FROM _events.sched_switch GROUP BY _ts, cpu) AS switches
  ON steps.cpu = switches.cpu AND steps._ts >= switches._ts
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(line) OVER w AS end_line, LEAD(entry) OVER w AS next_entry,
    LEAD(ret) OVER w AS next_ret, LEAD(name) OVER w AS next_name,
    LEAD(number) OVER w AS next_number
  FROM known WINDOW w AS (PARTITION BY kind, COALESCE(tid, -1 - cpu) ORDER BY _ts, line, entry)
),
named AS (
  SELECT c.*, COALESCE(c.name, n.name, 'NR ' || c.number::STRING) AS called,
    NOT next_entry AND next_name <=> c.name AND next_number <=> c.number AS ended
  FROM followed AS c
  LEFT JOIN (SELECT number, name FROM syscalls.numbers AS x JOIN syscalls.architecture AS a ON a.architecture = x.architecture) AS n
  ON n.number = c.number
  WHERE entry
)
SELECT * FROM named
WHERE kind = 'name' OR called NOT IN (SELECT DISTINCT name FROM _events.syscall_enters)
