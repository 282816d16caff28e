-- CPUs of each machine, as the recorder found them.
-- formats: perfetto
SELECT number AS cpu, processor AS name, capacity, cluster, machine FROM _tables.cpus
