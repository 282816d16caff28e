-- Processes, named after the program that they run.
-- formats: uftrace
SELECT pid, comm AS name FROM _tables.tasks WHERE tid = pid
