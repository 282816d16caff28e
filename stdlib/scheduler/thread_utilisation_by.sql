-- CPU time of each thread in equal periods. Periods begin at multiples of `period`; those in which a thread did not run have no row.
-- formats: *
-- parameter period positive ns = 100ms: length of each period
-- column _ts: start of the period
-- column tid: the thread
-- column comm: its name when it last started to run in the period
-- column running: time for which it ran
-- column utilisation: running time as a share of the period, 1 for a whole CPU
SELECT start AS _ts, tid, ARG_MAX(comm, _ts) AS comm, SUM(_duration) AS running,
  SUM(_duration) / (:period IN ns) AS utilisation
FROM (
  SELECT SPAN comm, start FROM (SELECT SPAN comm FROM scheduler.thread_states_p_tid WHERE state = 'running')
  SPAN BROADCAST FROM (SELECT SPAN _ts AS start FROM quantize(:period))
)
GROUP BY start, tid
ORDER BY _ts, running DESC, tid
