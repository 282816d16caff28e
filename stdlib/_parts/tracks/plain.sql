-- Threads and processes that rows name; rows that name neither share one track.
-- formats: csv, json-lines, parquet, arrow, sqlite
SELECT ROW_NUMBER() OVER (ORDER BY pid NULLS FIRST, tid NULLS FIRST) AS track,
  CASE WHEN tid IS NOT NULL THEN 'thread' WHEN pid IS NOT NULL THEN 'process' ELSE 'table' END AS kind, pid, tid
FROM (SELECT DISTINCT pid, tid FROM events)
