-- Tracks of a timeline: interrupt handlers on each CPU, named by handler and interrupt number; see `cpu.irq`.
-- formats: *
-- rows of: irq.hard_p_cpu by cpu
-- columns of: timeline.slices
SELECT _ts, _duration, LIST_VALUE('CPUs', COALESCE('CPU ' || cpu::STRING, 'no CPU'), 'Interrupts') AS path, 'slices' AS kind,
  LIST_VALUE(0, cpu, 3)::INT64[] AS ranks, 0::INT64 AS depth, COALESCE(NULLIF(name, '') || ' ', 'irq ') || irq::STRING AS name,
  NULL::FLOAT64 AS value, NULL::STRING AS unit, cpu
FROM irq.hard_p_cpu
ORDER BY _ts, cpu
