-- Softirqs on each CPU: an alias of `irq.soft_p_cpu`.
-- formats: *
-- columns of: irq.soft_p_cpu
SELECT SPAN * FROM irq.soft_p_cpu
