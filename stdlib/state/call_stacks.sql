-- Call stacks of threads: changes of the attributes of a state system. `Call_stacks/PROCESS/THREAD` is the number of open slices; below it, `1` has the name of the outermost slice, `2` that of the slice in it, and so on. Slices that overlap without nesting, those of `lane` 1 and above in `slices`, are below `lane 1` and so on.
-- formats: *
-- column _ts: time of the change
-- column path: the attribute, below `Call_stacks`: ids of the process and thread if known, otherwise names; a thread that shares both with another is followed by `#` and its track
-- column number: number of open slices, if the attribute is a thread
-- column text: the slice's name, if the attribute is a depth
WITH spans AS (
  -- A state holds at most 32,767 bytes, and a character takes up to four.
  SELECT _ts, _ts + _duration AS end_ts, track, lane, depth + 1 AS level, SUBSTR(name, 1, 8191) AS name FROM _built.slices
  WHERE _duration IS NULL OR _duration > 0ns
),
named AS (
  SELECT s.track, COALESCE(t.pid::STRING, t.process, '-') AS process, COALESCE(t.tid::STRING, t.thread, s.track::STRING) AS thread
  FROM (SELECT DISTINCT track FROM spans) AS s LEFT JOIN tracks AS t ON t.track = s.track
),
known AS (
  SELECT track,
    'Call_stacks/' || REPLACE(REPLACE(process, '\', '\\'), '/', '\/') || '/' || REPLACE(REPLACE(thread, '\', '\\'), '/', '\/')
      || CASE WHEN COUNT(*) OVER (PARTITION BY process, thread) > 1 THEN '#' || track::STRING ELSE '' END AS path
  FROM named
),
steps AS (
  SELECT _ts, 1 AS more, track, lane, level, name FROM spans
  UNION ALL
  SELECT end_ts, -1, track, lane, level, NULL FROM spans WHERE end_ts IS NOT NULL
),
changes AS (
  SELECT _ts, more, level, path || CASE WHEN lane > 0 THEN '/lane ' || lane::STRING ELSE '' END || '/' || level::STRING AS path,
    NULL::INT64 AS number, name AS text
  FROM steps JOIN known ON known.track = steps.track
  UNION ALL
  SELECT _ts, 0, 0, path, NULLIF(SUM(more) OVER (PARTITION BY path ORDER BY _ts ROWS UNBOUNDED PRECEDING), 0)::INT64, NULL
  FROM (
    SELECT _ts, path, SUM(more) AS more FROM steps JOIN known ON known.track = steps.track
    GROUP BY _ts, path HAVING SUM(more) != 0
  )
)
SELECT _ts, path, number, text FROM changes ORDER BY _ts, more, level, path
