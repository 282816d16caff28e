-- Idle state of each CPU: an alias of `cpu.idle_p_cpu`.
-- formats: *
-- columns of: cpu.idle_p_cpu
SELECT SPAN * FROM cpu.idle_p_cpu
