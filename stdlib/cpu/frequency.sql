-- Frequency of each CPU, while it is known: an alias of `scheduler.cpufreq_p_cpu`.
-- formats: *
-- columns of: scheduler.cpufreq_p_cpu
SELECT SPAN * FROM scheduler.cpufreq_p_cpu
