-- Interrupt handlers on each CPU: an alias of `irq.hard_p_cpu`.
-- formats: *
-- columns of: irq.hard_p_cpu
SELECT SPAN * FROM irq.hard_p_cpu
