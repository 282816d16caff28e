-- Tracks of a timeline: softirqs on each CPU; see `cpu.softirq`.
-- formats: *
-- rows of: irq.soft_p_cpu by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Soft interrupts') AS path, 'slices' AS kind,
  LIST_VALUE(0, cpu, 4)::INT64[] AS ranks, 0::INT64 AS depth, COALESCE(action, 'vec ' || vec::STRING) AS name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, cpu
FROM irq.soft_p_cpu
ORDER BY _ts, cpu
