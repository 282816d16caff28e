-- Threads with their processes, as far as these can be inferred: from events, from a thread of the same process that created it or that it created, or from a process with its number.
-- formats: *
-- materialized: index
-- key: host, pid, tid
WITH RECURSIVE named AS (
  SELECT host, pid, tid, name, rank, start_ts, end_ts, maker, joined FROM _parts.thread_names WHERE tid IS NOT NULL
  UNION ALL
  -- Thread 0 of marks, whose tracks are negative, is idle; in other traces it is a thread like others.
  SELECT host, pid, tid, NULL, NULL, NULL, NULL, NULL, NULL FROM _parts.tracks
  WHERE kind = 'thread' AND tid IS NOT NULL AND (tid != 0 OR track >= 0)
),
recorded AS (SELECT host, tid, MIN(pid) AS pid FROM named WHERE pid IS NOT NULL GROUP BY host, tid),
-- The main thread of a process has the number of the process.
mains AS (
  SELECT p.host, p.pid
  FROM (
    SELECT host, pid FROM recorded UNION SELECT host, pid FROM _parts.process_names UNION SELECT host, parent FROM _parts.process_names
    UNION SELECT host, pid FROM _parts.tracks WHERE kind = 'process'
  ) AS p
  LEFT JOIN recorded AS t ON t.tid = p.pid AND t.host <=> p.host
  WHERE t.tid IS NULL AND p.pid IS NOT NULL
),
known AS (SELECT host, tid, pid FROM recorded UNION ALL SELECT host, pid, pid FROM mains),
links AS (
  SELECT l.host, l.own, l.other
  FROM (
    SELECT DISTINCT host, tid AS own, maker AS other FROM named WHERE joined
    UNION SELECT DISTINCT host, maker, tid FROM named WHERE joined
  ) AS l LEFT JOIN known AS k ON k.tid = l.own AND k.host <=> l.host
  WHERE k.tid IS NULL
),
reached AS (
  SELECT host, tid, pid FROM known
  UNION
  SELECT l.host, l.own, r.pid FROM reached AS r JOIN links AS l ON l.other = r.tid AND l.host <=> r.host
),
owners AS (SELECT host, tid, MIN(pid) AS pid FROM reached GROUP BY host, tid),
makers AS (SELECT host, tid, MAX(maker) AS maker FROM named WHERE maker IS NOT NULL AND NOT COALESCE(joined, FALSE) GROUP BY host, tid),
whole AS (
  SELECT n.host, COALESCE(n.pid, o.pid) AS pid, n.tid, n.name, n.rank, n.start_ts, n.end_ts
  FROM named AS n LEFT JOIN owners AS o ON o.tid = n.tid AND o.host <=> n.host AND n.pid IS NULL
),
found AS (
  SELECT host, pid, tid, LAST(name ORDER BY rank NULLS FIRST, name) FILTER (WHERE name IS NOT NULL) AS name,
    MAX(start_ts) AS start_ts, MAX(end_ts) AS end_ts
  FROM whole GROUP BY host, pid, tid
)
SELECT f.host, f.pid, f.tid, f.name, f.start_ts, f.end_ts, CASE WHEN f.tid = f.pid THEN o.pid END AS parent
FROM found AS f
LEFT JOIN makers AS m ON m.tid = f.tid AND m.host <=> f.host AND f.tid = f.pid
LEFT JOIN owners AS o ON o.tid = m.maker AND o.host <=> m.host
