-- Soft interrupts on each CPU: another name of `irq.soft_p_cpu`.
-- formats: ftrace-text, ftrace-graph, trace-dat, perfetto, perf-data, perf-script, ctf
-- columns of: irq.soft_p_cpu
SELECT SPAN * FROM irq.soft_p_cpu
