-- Work of programs that crosses threads. There is one track for each id that the program gives such work. Slices of one track nest; overlapping ones are on lanes. An end without a begin is ignored and counted. Of several `S` marks of one process, name and cookie, the first counts until an `F` ends it.
-- formats: *
-- column _ts: start time
-- column _duration: duration, NULL if it has no end
-- column id: the slice's number, in order of `_ts`; slices of threads are numbered separately
-- column parent_id: the slice of the track that encloses it, or NULL
-- column depth: number of enclosing slices
-- column lane: 0, or more if it overlaps other slices of its track
-- column track: see `tracks`
-- column track_name: the track's name, or NULL
-- column tid: the track's thread, mostly NULL
-- column pid: its process, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: the slice's name
-- column args: its arguments, from its begin and its end
SELECT s._ts, s._duration, s.id, s.parent_id, s.depth, s.lane, s.track, t.name AS track_name, t.tid, t.pid, t.process,
  s.category, s.name, s.args
FROM _built.async_slices AS s LEFT JOIN tracks AS t ON t.track = s.track
