-- Nested activities of each thread: slices from begin and end events, and slices recorded with their duration. Slices of one thread that overlap without nesting are on separate lanes. An end without a begin is ignored and counted.
-- formats: *
-- column _ts: start time
-- column _duration: duration, NULL if it has no end
-- column id: the slice's number, in order of `_ts`
-- column parent_id: the enclosing slice, or NULL
-- column depth: number of enclosing slices
-- column lane: 0, or more if it overlaps other slices of its thread: slices of one track and lane nest
-- column track: see `tracks`
-- column tid: the thread
-- column pid: its process, or NULL
-- column thread: the thread's name, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: the slice's name
-- column args: its arguments, from its begin and its end
SELECT s._ts, s._duration, s.id, s.parent_id, s.depth, s.lane, s.track, t.tid, t.pid, t.thread, t.process,
  s.category, s.name, s.args
FROM _built.slices AS s LEFT JOIN tracks AS t ON t.track = s.track
