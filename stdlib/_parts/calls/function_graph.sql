-- Functions of the kernel as the function graph tracer tells them: entries with the exits that follow in their thread
-- and depth; calls without others may have their durations at once. Where a thread is not told, or is the idle one, `tid` is
-- -1 less the CPU.
-- formats: ftrace-text, ftrace-graph, perf-data, perf-script, perfetto, ctf
WITH edges AS (
  SELECT _ts, line, IF(common_pid > 0, common_pid, -1 - cpu) AS tid, common_tgid AS pid, depth, func, duration, params, retval,
    TRUE AS enters
  FROM _events.funcgraph_entry
  UNION ALL
  SELECT _ts, line, IF(common_pid > 0, common_pid, -1 - cpu), common_tgid, depth, func, duration, NULL, retval, FALSE
  FROM _events.funcgraph_exit
),
paired AS (
  SELECT *, LEAD(enters) OVER (PARTITION BY tid, depth ORDER BY _ts, line) AS next_enters,
    LEAD(_ts) OVER (PARTITION BY tid, depth ORDER BY _ts, line) AS end_ts,
    LEAD(retval) OVER (PARTITION BY tid, depth ORDER BY _ts, line) AS returned
  FROM edges
)
SELECT _ts, line, COALESCE(duration, IF(next_enters, NULL, end_ts - _ts)) AS dur, tid, pid, depth, func AS name, 'kernel' AS module,
  params AS args, COALESCE(retval, IF(duration IS NULL AND NOT next_enters, returned, NULL)) AS retval
FROM paired WHERE enters
