-- Whether new threads belong to the process that created them, in traces where flags are hexadecimal text.
-- formats: ftrace-text, perf-script, chrome-json
SELECT pid AS tid, CASE WHEN NOT clone_flags REGEXP '[13579bdf][0-9a-f]{4}$' THEN pid END AS pid, common_pid AS maker,
  clone_flags REGEXP '[13579bdf][0-9a-f]{4}$' AS joined
FROM _events.task_newtask WHERE pid > 0
