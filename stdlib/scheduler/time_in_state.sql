-- Time that each thread spent in each state. See `scheduler.thread_states_p_tid`.
-- formats: *
-- column tid: the thread
-- column comm: its last name
-- column state: `running`, `runnable`, `sleeping` or `uninterruptible`
-- column time: total time
-- column spans: number of spans of non-zero length
-- column longest: duration of the longest span
-- column share: share of the time for which the thread's state is known
WITH sums AS (
  SELECT tid, state, SUM(_duration) AS time, COUNT(*) AS spans, MAX(_duration) AS longest
  FROM scheduler.thread_states_p_tid GROUP BY tid, state
),
names AS (SELECT tid, ARG_MAX(comm, _ts) AS comm, SUM(_duration) AS whole FROM scheduler.thread_states_p_tid GROUP BY tid)
SELECT sums.tid, comm, state, time, spans, longest, time / whole AS share
FROM sums JOIN names ON names.tid = sums.tid
ORDER BY sums.tid, time DESC, state
