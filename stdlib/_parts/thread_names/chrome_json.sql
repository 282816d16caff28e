-- Events of phase M; an event without a thread is about the main thread.
-- formats: chrome-json
SELECT COALESCE(tid, pid) AS tid, pid, name, 0 AS rank FROM _tables.thread_names
