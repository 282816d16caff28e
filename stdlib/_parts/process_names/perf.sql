-- Last names of the main threads of processes.
-- formats: perf-data, perf-script
SELECT pid, name FROM _tables.process_names
