-- How much each thread ran, by equal periods. They begin at 0; periods in which a thread did not run have no row.
-- formats: *
-- parameter period ns = 100ms: how long each period is
-- column _ts: when the period begins
-- column tid: the thread
-- column comm: its name when it last began to run there
-- column running: how long it ran
-- column utilisation: that as a share of the period, 1 for a whole CPU
SELECT (_ts // (:period IN ns)) * (:period IN ns) AS _ts, tid, ARG_MAX(comm, _ts) AS comm, SUM(_duration) AS running,
  SUM(_duration) / (:period IN ns) AS utilisation
FROM (
  SELECT SPAN comm FROM (SELECT SPAN comm FROM scheduler.thread_states_p_tid WHERE state = 'running')
  SPAN BROADCAST FROM quantize(:period)
)
GROUP BY (_ts // (:period IN ns)) * (:period IN ns), tid
ORDER BY _ts, running DESC, tid
