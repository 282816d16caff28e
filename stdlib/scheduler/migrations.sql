-- Every time that a thread runs on another CPU than the one on which it ran before: one event for each, when it runs there.
-- formats: *
-- column tid: the thread
-- column comm: its name
-- column from_cpu: where it ran before
-- column to_cpu: where it runs now
-- column since: how long ago it was switched in there
WITH runs AS (
  SELECT _ts, line, tid, comm, cpu, LAG(cpu) OVER w AS from_cpu, LAG(_ts) OVER w AS from_ts
  FROM scheduler.states WHERE state = 'running'
  WINDOW w AS (PARTITION BY tid ORDER BY _ts, line)
)
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, tid, comm, from_cpu, cpu AS to_cpu, _ts - from_ts AS since
  FROM runs WHERE from_cpu != cpu
  ORDER BY _ts, line
))
