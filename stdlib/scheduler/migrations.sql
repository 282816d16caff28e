-- Migrations of threads between CPUs: one event each time that a thread runs on another CPU than before, at the time when it starts to run there. A thread that has the number of one that has ended did not run before.
-- formats: *
-- column tid: the thread
-- column comm: its name
-- column from_cpu: the CPU that it ran on before
-- column to_cpu: the CPU that it runs on now
-- column since: time since it was last switched in on the old CPU, NULL if that was before the trace
WITH seen AS (
  SELECT _ts, line, tid, comm, cpu, state = 'running' AS starts, state = 'ended' AS ends,
    ROW_NUMBER() OVER (PARTITION BY tid ORDER BY _ts, line) AS number
  FROM scheduler.states WHERE NOT COALESCE(woken, FALSE)
),
runs AS (
  SELECT _ts, line, tid, comm, cpu, starts, LAG(cpu) OVER w AS from_cpu, LAG(CASE WHEN starts THEN _ts END) OVER w AS from_ts,
    LAG(ends) OVER w AS from_end
  -- A thread that is first switched out ran there since before the trace; after its end, its number is another thread's.
  FROM seen WHERE starts OR ends OR number = 1
  WINDOW w AS (PARTITION BY tid ORDER BY _ts, line)
)
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, from_cpu, cpu AS to_cpu, _ts - from_ts AS since
  FROM runs WHERE starts AND from_end IS NOT TRUE AND from_cpu != cpu
  ORDER BY _ts, line
))
