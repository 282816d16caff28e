-- Events of phase M.
-- formats: chrome-json
SELECT pid, name FROM _tables.process_names
