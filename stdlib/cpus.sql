-- CPUs that the trace knows.
-- formats: *
-- column cpu: the CPU's number
-- column name: what it is, such as its model, or NULL
-- column capacity: how much it can do compared with others, or NULL
SELECT cpu, MAX(name) AS name, MAX(capacity) AS capacity
FROM _parts.cpus WHERE cpu IS NOT NULL GROUP BY cpu ORDER BY cpu
