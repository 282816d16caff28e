-- CPUs that the trace knows.
-- formats: *
-- column cpu: the CPU's number
-- column name: what it is, such as its model, or NULL
-- column capacity: how much it can do compared with others, or NULL
-- column cluster: which of its CPUs' clusters, counted from the slowest, or NULL
-- column machine: the machine's number, NULL for the one that recorded
SELECT cpu, MAX(name) AS name, MAX(capacity) AS capacity, MAX(cluster) AS cluster, machine
FROM _parts.cpus WHERE cpu IS NOT NULL GROUP BY machine, cpu ORDER BY machine NULLS FIRST, cpu
