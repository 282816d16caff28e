-- Threads, whose numbers are their tracks.
-- formats: uftrace
SELECT tid AS track, 'thread' AS kind, comm AS name, pid, tid FROM _tables.tasks
