-- Last names of threads, from kernel records or samples.
-- formats: perf-data, perf-script
SELECT tid, pid, name FROM _tables.thread_names
