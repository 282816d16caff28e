-- Processes that the trace knows, from its tracks, its threads and all events that name processes.
-- formats: *
-- column pid: the process's number
-- column host: the machine, NULL if the trace has only one or does not tell
-- column name: its last name, else that of its main thread, or NULL
-- column threads: how many of its threads are known
-- column start_ts: when it began, if the trace has that
-- column end_ts: when it ended, if the trace has that
WITH named AS (
  SELECT host, pid, name, TRUE AS own, rank, start_ts, end_ts, 0 AS threads FROM _parts.process_names
  UNION ALL
  SELECT host, pid, NULL, FALSE, NULL, NULL, NULL, 0 FROM _parts.tracks WHERE kind = 'process'
  UNION ALL
  SELECT host, pid, name, FALSE, NULL, start_ts, end_ts, 0 FROM threads WHERE is_main
  UNION ALL
  SELECT host, pid, NULL, FALSE, NULL, NULL, NULL, 1 FROM threads
)
SELECT pid, host, LAST(name ORDER BY own, rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name,
  SUM(threads) AS threads, MAX(start_ts) AS start_ts, MAX(end_ts) AS end_ts
FROM named WHERE pid IS NOT NULL
GROUP BY host, pid
ORDER BY host NULLS FIRST, pid
