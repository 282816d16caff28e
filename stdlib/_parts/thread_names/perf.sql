-- Last names of threads, from kernel records or samples.
-- formats: perf-data, perf-script
SELECT tid, pid, name, 0 AS rank FROM _tables.thread_names
