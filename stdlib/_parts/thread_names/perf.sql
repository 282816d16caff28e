-- Last names of threads, from the kernel's records or the samples.
-- formats: perf-data, perf-script
SELECT tid, pid, name FROM _tables.thread_names
