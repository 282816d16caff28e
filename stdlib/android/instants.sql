-- Moments that programs mark, by `I` and `N` marks.
-- formats: ftrace-text
-- column pid: the process, as the mark says
-- column tid: the thread
-- column comm: its name
-- column track: the track, for `N` marks
-- column name: what happened
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, pid, tid, comm, track, name
  FROM (
    SELECT _ts, line, pid, common_pid AS tid, common_comm AS comm, NULL::STRING AS track, name FROM _events.`print|I`
    UNION ALL
    SELECT _ts, line, pid, common_pid, common_comm, track, name FROM _events.`print|N`
  )
  ORDER BY _ts, line
))
