-- Soft interrupts on each CPU: another name of `irq.soft_p_cpu`.
-- formats: *
-- columns of: irq.soft_p_cpu
SELECT SPAN * FROM irq.soft_p_cpu
