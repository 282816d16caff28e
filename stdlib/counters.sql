-- Counters: one span from each sample of a track to its next, and from the last one to the end of the trace. Of several samples at one time the last counts, and a sample at the end of the trace has no span.
-- formats: *
-- column track: see `tracks`
-- column value: its value
-- column name: the counter
-- column unit: unit of the value, or NULL
-- column tid: the thread that it belongs to, or NULL
-- column pid: the process that it belongs to, or NULL
-- column process: the process's name, or NULL
WITH lasting AS (
  SELECT _ts, LEAD(_ts, 1, (SELECT _ts FROM last_ts)) OVER (PARTITION BY track ORDER BY _ts, line) AS end_ts, track, value
  FROM _parts.counter_values
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT c._ts, c.end_ts, c.track, c.value, t.name, t.unit, t.tid, t.pid, t.process
   FROM lasting AS c LEFT JOIN tracks AS t ON t.track = c.track
   WHERE c.end_ts > c._ts),
  end=>"end_ts",
  partition=>"track",
)
