-- Processes that the trace knows, from its tracks, its threads and all events that name processes.
-- formats: *
-- column pid: the process's number
-- column host: the machine, NULL if the trace has only one or does not tell
-- column name: its last name, else that of its main thread, or NULL
-- column threads: how many of its threads are known
-- column parent: the process that made it, if the trace tells
-- column start_ts: when it began, if the trace has that
-- column end_ts: when it ended, if the trace has that
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
