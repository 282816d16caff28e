-- The place of each thread and process on a timeline: the names of its groups, from the root, and their ranks. Rows without a `tid` are processes. Rows without a `pid` are threads of which only the number is recorded; if several threads have that number, the row stands for the one in the process with the highest number.
-- formats: *
-- materialized: session
-- key: host, pid, tid
WITH found AS (
  SELECT host, pid, tid, name FROM _built.threads
  UNION ALL
  SELECT host, pid, NULL, name FROM processes
  UNION ALL
  -- Tracks, for example of counters, may belong to processes and threads that occur nowhere else.
  SELECT host, pid, tid, NULL FROM _parts.tracks WHERE tid IS NOT NULL
  UNION ALL
  SELECT host, pid, NULL, NULL FROM _parts.tracks WHERE pid IS NOT NULL
),
labelled AS (
  SELECT host, pid, tid, COALESCE(tid, pid)::STRING AS number, NULLIF(MAX(name), '') AS name FROM found GROUP BY host, pid, tid
),
known AS (
  SELECT l.host, l.pid, l.tid, CASE WHEN several AND host IS NOT NULL THEN host || ': ' ELSE '' END AS machine,
    COALESCE(name || ' (' || number || ')', number) AS label
  FROM labelled AS l CROSS JOIN (SELECT COUNT(DISTINCT COALESCE(host, '')) > 1 AS several FROM labelled) AS s
),
placed AS (
  SELECT k.host, k.pid, k.tid,
    CASE
      WHEN k.tid IS NULL THEN LIST_VALUE('Processes', k.machine || k.label)
      WHEN k.pid IS NULL THEN LIST_VALUE('Threads', k.machine || k.label)
      ELSE LIST_VALUE('Processes', p.machine || p.label, k.label) END AS path,
    CASE
      WHEN k.tid IS NULL THEN LIST_VALUE(1, NULL)
      WHEN k.pid IS NULL THEN LIST_VALUE(2, NULL)
      ELSE LIST_VALUE(1, NULL, CASE WHEN k.tid = k.pid THEN 0 END) END::INT64[] AS ranks
  FROM known AS k LEFT JOIN known AS p ON p.tid IS NULL AND p.pid = k.pid AND p.host <=> k.host
)
SELECT host, pid, tid, path, ranks FROM placed WHERE pid IS NOT NULL
UNION ALL
SELECT host, NULL, tid, MAX_BY(path, COALESCE(pid, -1)), MAX_BY(ranks, COALESCE(pid, -1)) FROM placed
WHERE tid IS NOT NULL GROUP BY host, tid
