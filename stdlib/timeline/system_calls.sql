-- Tracks of a timeline: system calls of each thread; see `syscalls.calls`. A call whose exit was lost lasts until the thread's next call that is recorded in the same way, by number or by name.
-- formats: *
-- rows of: syscalls.calls by line, tid
-- columns of: timeline.slices
SELECT _ts, _duration,
  CASE
    WHEN process IS NULL THEN LIST_VALUE('Threads', COALESCE(thread, tid::STRING, 'no thread'), 'System calls')
    ELSE LIST_VALUE('Processes', process, thread, 'System calls') END AS path,
  'slices' AS kind,
  CASE WHEN process IS NULL THEN LIST_VALUE(2, NULL, 3) ELSE LIST_VALUE(1, NULL, CASE WHEN main THEN 0 END, 3) END::INT64[] AS ranks,
  NULL::INT64 AS depth, name, NULL::FLOAT64 AS value, NULL::STRING AS unit, line, tid
FROM (
  SELECT s._ts, s.end_ts - s._ts AS _duration, t.process, t.thread, t.main, s.called AS name, s.line, s.tid
  FROM _built.system_calls AS s LEFT JOIN _built.timeline_threads AS t ON t.tid = s.tid
  ORDER BY s._ts, s.line, s.tid
)
