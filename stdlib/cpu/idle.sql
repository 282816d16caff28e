-- The idle state that each CPU is in: another name of `cpu.idle_p_cpu`.
-- formats: *
-- columns of: cpu.idle_p_cpu
SELECT SPAN * FROM cpu.idle_p_cpu
