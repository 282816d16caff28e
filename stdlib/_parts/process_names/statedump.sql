-- Parents of the processes that existed when recording began.
-- formats: ctf
SELECT pid, MAX(ppid) AS parent FROM _events.lttng_statedump_process_state WHERE tid = pid AND pid > 0 GROUP BY pid
