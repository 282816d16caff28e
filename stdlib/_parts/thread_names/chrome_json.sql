-- Events of phase M; an event without a thread is about the main thread.
-- formats: chrome-json
SELECT COALESCE(tid, pid) AS tid, pid, name FROM _tables.thread_names
