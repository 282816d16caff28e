-- Threads that the trace knows, from its tracks and from all events that name threads. A thread is one number of one process and host; numbers that are used again are taken for one thread. Idle threads are left out.
-- formats: *
-- column tid: the thread's number
-- column pid: its process, NULL if the trace does not tell
-- column host: the machine, NULL if the trace has only one or does not tell
-- column name: its last name, or NULL
-- column process: the name of its process, or NULL
-- column is_main: whether it is the main thread of its process
-- column start_ts: when it began, if the trace has that
-- column end_ts: when it ended, if the trace has that
WITH named AS (
  SELECT host, pid, tid, name, rank, start_ts, end_ts FROM _parts.thread_names
  UNION ALL
  SELECT host, pid, tid, NULL, NULL, NULL, NULL FROM _parts.tracks WHERE kind = 'thread'
),
owners AS (SELECT host, tid, MIN(pid) AS pid FROM named WHERE pid IS NOT NULL GROUP BY host, tid),
whole AS (
  SELECT n.host, COALESCE(n.pid, o.pid) AS pid, n.tid, n.name, n.rank, n.start_ts, n.end_ts
  FROM named AS n LEFT JOIN owners AS o ON o.tid = n.tid AND o.host <=> n.host AND n.pid IS NULL
  WHERE n.tid IS NOT NULL
),
found AS (
  SELECT host, pid, tid, LAST(name ORDER BY rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name,
    MAX(start_ts) AS start_ts, MAX(end_ts) AS end_ts
  FROM whole GROUP BY host, pid, tid
)
SELECT t.tid, t.pid, t.host, t.name, COALESCE(p.name, m.name) AS process, t.tid = t.pid AS is_main, t.start_ts, t.end_ts
FROM found AS t
LEFT JOIN (
  SELECT host, pid, LAST(name ORDER BY rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name
  FROM _parts.process_names GROUP BY host, pid
) AS p ON p.pid = t.pid AND p.host <=> t.host
LEFT JOIN found AS m ON m.tid = t.pid AND m.pid = t.pid AND m.host <=> t.host
ORDER BY t.host NULLS FIRST, t.pid NULLS FIRST, t.tid
