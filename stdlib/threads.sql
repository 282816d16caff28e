-- Threads that occur in the trace, in tracks or in any event that names threads. A thread is a number in one process on one host; a reused number counts as the same thread. Idle threads are left out.
-- formats: *
-- materialized: session
-- key: host, pid, tid
-- column tid: the thread's number
-- column pid: its process, NULL if unknown
-- column host: the machine, NULL if the trace has only one or does not name it
-- column name: its last name, or NULL
-- column process: the name of its process, or NULL
-- column is_main: whether it is the main thread of its process
-- column start_ts: start time, or NULL
-- column end_ts: end time, or NULL
SELECT t.tid, t.pid, t.host, t.name, COALESCE(p.name, m.name) AS process, t.tid = t.pid AS is_main, t.start_ts, t.end_ts
FROM _built.threads AS t
LEFT JOIN (
  SELECT host, pid, LAST(name ORDER BY rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name
  FROM _parts.process_names GROUP BY host, pid
) AS p ON p.pid = t.pid AND p.host <=> t.host
LEFT JOIN _built.threads AS m ON m.tid = t.pid AND m.pid = t.pid AND m.host <=> t.host
ORDER BY t.host NULLS FIRST, t.pid NULLS FIRST, t.tid
