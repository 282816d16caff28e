-- The frequency that each CPU is known to have: another name of `scheduler.cpufreq_p_cpu`.
-- formats: *
-- columns of: scheduler.cpufreq_p_cpu
SELECT SPAN * FROM scheduler.cpufreq_p_cpu
