-- Tracks of a timeline: what each thread does, see `scheduler.thread_states_p_tid`.
-- formats: *
-- rows of: scheduler.thread_states_p_tid by tid
-- columns of: timeline.slices
SELECT s._ts, s._duration, COALESCE(t.path, LIST_VALUE('Threads', s.tid::STRING, 'State')) AS path, 'states' AS kind,
  COALESCE(t.ranks, LIST_VALUE(2, NULL, 0)::INT64[]) AS ranks, 0::INT64 AS depth, s.state AS name, NULL::FLOAT64 AS value,
  NULL::STRING AS unit, s.tid
FROM scheduler.thread_states_p_tid AS s
LEFT JOIN (
  SELECT tid, LIST_APPEND(path, 'State') AS path, LIST_APPEND(ranks, 0) AS ranks FROM _built.timeline_owners
  WHERE host IS NULL AND pid IS NULL
) AS t ON t.tid = s.tid
ORDER BY s._ts, s.tid
