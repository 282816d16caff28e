-- Whether new threads belong to the process that created them, in traces where flags are numbers.
-- formats: perfetto, trace-dat, perf-data, ctf
SELECT pid AS tid, CASE WHEN TRY_CAST(clone_flags AS INT64) & 65536 = 0 THEN pid END AS pid, common_pid AS maker,
  TRY_CAST(clone_flags AS INT64) & 65536 != 0 AS joined
FROM _events.task_newtask WHERE pid > 0
