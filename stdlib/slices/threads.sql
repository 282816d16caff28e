-- What each thread did: all events with a duration, nested. Of two events that overlap on a thread, the later one is within the earlier one, even if it ends after it.
-- formats: dftracer
-- column _ts: when it begins
-- column _duration: how long it lasts
-- column hostname: the machine, NULL if the writer did not record it
-- column pid: the process
-- column tid: the thread
-- column id: the slice's number
-- column parent_id: the slice that it is in, or NULL
-- column depth: how many slices it is in
-- column name: the function
-- column category: its category
SELECT * FROM dctv.slices(
  complete=>(SELECT _ts, _duration, JSON_EXTRACT_STRING(args, 'hostname') AS hostname, pid, tid, name, category
             FROM events WHERE _duration IS NOT NULL),
  partition=>["hostname", "pid", "tid"],
)
