-- Threads; a track has the number of its thread.
-- formats: uftrace
SELECT tid AS track, 'thread' AS kind, comm AS name, pid, tid FROM _tables.tasks
