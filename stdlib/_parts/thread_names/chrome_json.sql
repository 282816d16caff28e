-- Events of phase M; one that names no thread is of the process's own.
-- formats: chrome-json
SELECT COALESCE(tid, pid) AS tid, pid, name FROM _tables.thread_names
