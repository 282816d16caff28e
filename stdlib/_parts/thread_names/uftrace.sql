-- Threads, named after the program that they run.
-- formats: uftrace
SELECT tid, pid, comm AS name FROM _tables.tasks
