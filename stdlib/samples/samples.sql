-- Samples taken by a profiler.
-- formats: *
-- column tid: the thread
-- column pid: its process, or NULL
-- column cpu: the CPU that it ran on, or NULL
-- column comm: the thread's name at that time, or NULL
-- column event: the sampled event, or NULL; a reserved word, so write `event` in backticks
-- column period: count of that event since the previous sample, or NULL
-- column stack: functions, outermost first, separated by `;`, or NULL
-- column name: the innermost function, or NULL
-- column line: the event's number in the trace
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, pid, cpu, comm, `event`, period, stack, REGEXP_EXTRACT(stack, '[^;]*$') AS name, line
  FROM _parts.samples ORDER BY _ts, line
))
