-- Soft interrupts on each CPU: another name of `irq.soft_p_cpu`.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- columns of: irq.soft_p_cpu
SELECT SPAN * FROM irq.soft_p_cpu
