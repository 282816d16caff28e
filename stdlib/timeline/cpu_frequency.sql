-- Tracks of a timeline: frequency of each CPU; see `cpu.frequency`.
-- formats: *
-- rows of: scheduler.cpufreq_p_cpu by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Frequency') AS path, 'counter' AS kind,
  LIST_VALUE(0, cpu, 1)::INT64[] AS ranks, NULL::INT64 AS depth, NULL::STRING AS name, UNITLESS(frequency IN kHz)::FLOAT64 AS value,
  'kHz' AS unit, cpu
FROM scheduler.cpufreq_p_cpu
ORDER BY _ts, cpu
