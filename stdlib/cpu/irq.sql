-- Handlers of interrupts on each CPU: another name of `irq.hard_p_cpu`.
-- formats: ftrace-text, ftrace-graph, trace-dat, perfetto, perf-data, perf-script, ctf
-- columns of: irq.hard_p_cpu
SELECT SPAN * FROM irq.hard_p_cpu
