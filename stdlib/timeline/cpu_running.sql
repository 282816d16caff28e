-- Tracks of a timeline: threads that each CPU runs, named by the thread's name and number; see `scheduler.timeslices`. Idle times are left out.
-- formats: *
-- rows of: scheduler.timeslices by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Running') AS path, 'slices' AS kind,
  LIST_VALUE(0, cpu, 0)::INT64[] AS ranks, 0::INT64 AS depth, COALESCE(NULLIF(comm, '') || ' ', '') || COALESCE(tid::STRING, '') AS name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, cpu
FROM scheduler.timeslices
ORDER BY _ts, cpu
