-- CPUs that occur in the trace.
-- formats: *
-- column cpu: the CPU's number
-- column name: description, such as the model, or NULL
-- column capacity: capacity relative to other CPUs, or NULL
-- column cluster: number of its cluster, counted from the slowest, or NULL
-- column machine: the machine's number, NULL for the recording machine
SELECT cpu, MAX(name) AS name, MAX(capacity) AS capacity, MAX(cluster) AS cluster, machine
FROM _parts.cpus WHERE cpu IS NOT NULL GROUP BY machine, cpu ORDER BY machine NULLS FIRST, cpu
