-- Processes of events that name no thread: the name of these events is that of the process.
-- formats: *
SELECT pid, name, ROW_NUMBER() OVER (ORDER BY last_ts, name) - 9223372036854775807 AS rank
FROM _built.named_threads WHERE pid > 0 AND COALESCE(tid, 0) <= 0
