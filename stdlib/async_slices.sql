-- What programs do across threads, one track for each id by which they tell such work apart: nested, overlapping slices of one track on lanes. An end without a begin is passed over and counted. Of `S` marks of one process, name and cookie the first counts until an `F` ends it.
-- formats: *
-- column _ts: when it begins
-- column _duration: how long it lasts, NULL if nothing closes it
-- column id: the slice's number, in order of `_ts`; slices of threads have others of the same numbers
-- column parent_id: the slice of the track that it is in, or NULL
-- column depth: how many slices it is in
-- column lane: 0, or more where it overlaps others of its track
-- column track: see `tracks`
-- column track_name: the track's name, or NULL
-- column tid: the thread of the track, mostly NULL
-- column pid: its process, or NULL
-- column process: the process's name, or NULL
-- column category: its category, or NULL
-- column name: what is done
-- column args: its arguments, those of its begin and of its end
SELECT s._ts, s._duration, s.id, s.parent_id, s.depth, s.lane, s.track, t.name AS track_name, t.tid, t.pid, t.process,
  s.category, s.name, s.args
FROM _built.async_slices AS s LEFT JOIN tracks AS t ON t.track = s.track
