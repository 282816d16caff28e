-- CPUs on which kernel events occurred.
-- formats: *
SELECT cpu FROM _events.sched_switch GROUP BY cpu
UNION ALL SELECT cpu FROM _events.sched_waking GROUP BY cpu
UNION ALL SELECT cpu_id FROM _events.cpu_frequency GROUP BY cpu_id
UNION ALL SELECT cpu_id FROM _events.cpu_idle GROUP BY cpu_id
UNION ALL SELECT cpu FROM _events.irq_handler_entry GROUP BY cpu
UNION ALL SELECT cpu FROM _events.softirq_entry GROUP BY cpu
