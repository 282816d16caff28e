-- Events of phase M.
-- formats: chrome-json
SELECT tid, pid, name FROM _tables.thread_names
