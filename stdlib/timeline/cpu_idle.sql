-- Tracks of a timeline: the idle state that each CPU is in, a larger one is deeper, see `cpu.idle`. While a CPU is not idle it is in none.
-- formats: *
-- rows of: cpu.idle_p_cpu by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Idle state') AS path, 'states' AS kind,
  LIST_VALUE(0, cpu, 2)::INT64[] AS ranks, 0::INT64 AS depth, state::STRING AS name, NULL::FLOAT64 AS value, NULL::STRING AS unit, cpu
FROM cpu.idle_p_cpu
ORDER BY _ts, cpu
