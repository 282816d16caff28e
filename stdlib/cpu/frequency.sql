-- The frequency that each CPU is known to have: another name of `scheduler.cpufreq_p_cpu`.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- columns of: scheduler.cpufreq_p_cpu
SELECT SPAN * FROM scheduler.cpufreq_p_cpu
