-- Processes that occur in the trace: in tracks, as owners of threads, or in any event that names processes.
-- formats: *
-- materialized: session
-- key: host, pid
-- column pid: the process's number
-- column host: the machine, NULL if the trace has only one or does not name it
-- column name: its last name, or that of its main thread, or NULL
-- column threads: number of known threads
-- column parent: its parent process, or NULL
-- column start_ts: start time, or NULL
-- column end_ts: end time, or NULL
WITH named AS (
  SELECT host, pid, name, TRUE AS own, rank, start_ts, end_ts, 0 AS threads, parent FROM _parts.process_names
  UNION ALL
  SELECT host, pid, NULL, FALSE, NULL, NULL, NULL, 0, NULL FROM _parts.tracks WHERE kind = 'process'
  UNION ALL
  SELECT host, pid, name, FALSE, NULL, start_ts, end_ts, 0, parent FROM _built.threads WHERE tid = pid
  UNION ALL
  SELECT host, pid, NULL, FALSE, NULL, NULL, NULL, 1, NULL FROM _built.threads
)
SELECT pid, host, LAST(name ORDER BY own, rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name,
  SUM(threads) AS threads, LAST(parent ORDER BY own, rank NULLS FIRST, parent) FILTER (WHERE parent IS NOT NULL) AS parent,
  MAX(start_ts) AS start_ts, MAX(end_ts) AS end_ts
FROM named WHERE pid IS NOT NULL
GROUP BY host, pid
ORDER BY host NULLS FIRST, pid
