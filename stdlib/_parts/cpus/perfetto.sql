-- What the recorder read of the CPUs of each machine.
-- formats: perfetto
SELECT number AS cpu, processor AS name, capacity, cluster, machine FROM _tables.cpus
