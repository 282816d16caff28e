-- Tracks of a timeline: idle state of each CPU, larger is deeper; see `cpu.idle`. A CPU that is not idle has no state.
-- formats: *
-- rows of: cpu.idle_p_cpu by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Idle state') AS path, 'states' AS kind,
  LIST_VALUE(0, cpu, 2)::INT64[] AS ranks, 0::INT64 AS depth, state::STRING AS name, NULL::FLOAT64 AS value, NULL::STRING AS unit, cpu
FROM cpu.idle_p_cpu
ORDER BY _ts, cpu
