-- What each thread did, nested: slices from their begins and ends, and slices whose length was traced. Slices of one thread that overlap without one being in the other are kept on lanes. An end without a begin is passed over and counted.
-- formats: *
-- column _ts: when it begins
-- column _duration: how long it lasts, NULL if nothing closes it
-- column id: the slice's number, in order of `_ts`
-- column parent_id: the slice that it is in, or NULL
-- column depth: how many slices it is in
-- column lane: 0, or more where it overlaps others of its thread: slices of one track and lane nest
-- column track: see `tracks`
-- column tid: the thread
-- column pid: its process, or NULL
-- column thread: the thread's name, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: what is done
-- column args: its arguments, those of its begin and of its end
SELECT s._ts, s._duration, s.id, s.parent_id, s.depth, s.lane, s.track, t.tid, t.pid, t.thread, t.process,
  s.category, s.name, s.args
FROM _built.slices AS s LEFT JOIN tracks AS t ON t.track = s.track
