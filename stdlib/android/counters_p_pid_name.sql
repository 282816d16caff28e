-- Counters that programs set by `C` marks: one span from a sample to the next one of the same process and name, the last one until the trace's end. Of several samples at one time the last counts.
-- formats: ftrace-text
-- column pid: the process, as the mark says
-- column name: the counter
-- column value: its value
WITH lasting AS (
  SELECT _ts, LEAD(_ts) OVER (PARTITION BY pid, name ORDER BY _ts, line) AS next_ts, pid, name, value
  FROM _events.`print|C`
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, COALESCE(next_ts, (SELECT _ts FROM last_ts)) AS end_ts, pid, name, value
   FROM lasting WHERE COALESCE(next_ts, (SELECT _ts FROM last_ts)) > _ts),
  end=>"end_ts",
  partition=>["pid", "name"],
)
