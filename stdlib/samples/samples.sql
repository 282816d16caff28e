-- Samples that a profiler took.
-- formats: *
-- column tid: the thread
-- column pid: its process, or NULL
-- column cpu: the CPU it ran on, or NULL
-- column comm: the thread's name then, or NULL
-- column event: what made the profiler take it, or NULL; a reserved word, so write `event` in backticks
-- column period: how much of that there was since the sample before, or NULL
-- column stack: functions, the outermost first, with `;` between them, or NULL
-- column name: the innermost function, or NULL
-- column line: the event's number in the trace
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, pid, cpu, comm, `event`, period, stack, REGEXP_EXTRACT(stack, '[^;]*$') AS name, line
  FROM _parts.samples ORDER BY _ts, line
))
