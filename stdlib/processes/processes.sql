-- The processes that the trace knows, see `processes.threads`: those of threads whose process is known.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- column pid: the process
-- column name: the last name of its main thread, or NULL
-- column threads: how many of its threads are known
-- column first_seen: when one of them is first named
-- column last_seen: when one of them is last named
SELECT tgid AS pid, MAX(name) FILTER (WHERE tid = tgid) AS name, COUNT(*) AS threads,
  MIN(first_seen) AS first_seen, MAX(last_seen) AS last_seen
FROM processes.threads
WHERE tgid IS NOT NULL
GROUP BY tgid
ORDER BY pid
