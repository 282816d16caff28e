-- Instant events of threads, of other tracks, or of none.
-- formats: *
-- column id: the instant's number, in order of `_ts`; slices are numbered separately
-- column track: see `tracks`, or NULL
-- column tid: the thread, or NULL
-- column pid: the process, or NULL
-- column thread: the thread's name, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: name of the instant
-- column args: its arguments
SELECT EVENT * FROM dctv.as_events((
  SELECT i._ts, i.id, i.track, t.tid, t.pid, t.thread, t.process, i.category, i.name, i.args
  FROM _built.instants AS i LEFT JOIN tracks AS t ON t.track = i.track
  ORDER BY i._ts, i.id
))
