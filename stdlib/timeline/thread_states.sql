-- Tracks of a timeline: state of each thread; see `scheduler.thread_states_p_tid`.
-- formats: *
-- rows of: scheduler.thread_states_p_tid by tid
-- columns of: timeline.slices
SELECT _ts, _duration,
  CASE
    WHEN process IS NULL THEN LIST_VALUE('Threads', COALESCE(thread, tid::STRING), 'State')
    ELSE LIST_VALUE('Processes', process, thread, 'State') END AS path,
  'states' AS kind,
  CASE WHEN process IS NULL THEN LIST_VALUE(2, NULL, 0) ELSE LIST_VALUE(1, NULL, CASE WHEN main THEN 0 END, 0) END::INT64[] AS ranks,
  0::INT64 AS depth, state AS name, NULL::FLOAT64 AS value, NULL::STRING AS unit, tid
FROM (
  SELECT s._ts, s._duration, t.process, t.thread, t.main, s.state, s.tid
  FROM scheduler.thread_states_p_tid AS s LEFT JOIN _built.timeline_threads AS t ON t.tid = s.tid
  ORDER BY s._ts, s.tid
)
