-- Moments that the trace marks, on a thread or any other track, or on none.
-- formats: *
-- column id: the moment's number, in order of `_ts`; slices have others of the same numbers
-- column track: see `tracks`, or NULL
-- column tid: the thread, or NULL
-- column pid: the process, or NULL
-- column thread: the thread's name, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: what happened
-- column args: its arguments
SELECT EVENT * FROM dctv.as_events((
  SELECT i._ts, i.id, i.track, t.tid, t.pid, t.thread, t.process, i.category, i.name, i.args
  FROM _built.instants AS i LEFT JOIN tracks AS t ON t.track = i.track
  ORDER BY i._ts, i.id
))
