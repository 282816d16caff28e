-- Calls between processes through Android's binder: one row per transaction that is not a reply, from sending it until the caller has the reply, or for a one-way call until it is received. A reply answers the latest unanswered call of the thread that receives the reply. A transaction whose end is not recorded has no duration; replies to calls from before the trace are left out.
-- formats: *
-- column _ts: time at which it is sent
-- column _duration: time until the caller has the reply, or for a one-way call until it is received
-- column id: the transaction's number
-- column tid: the caller's thread
-- column pid: the caller's process, or NULL
-- column comm: the caller's thread name, or NULL
-- column one_way: whether it is one-way, without a reply
-- column code: code of the requested operation, as recorded
-- column to_pid: the called process
-- column to_tid: the called thread, 0 for any of the process
-- column server_tid: the thread that received it, NULL if that is not recorded
-- column server_comm: its name, or NULL
-- column latency: time until it was received
-- column reply_id: number of the reply transaction
WITH moments AS (
  SELECT _ts, line, debug_id, common_pid, common_tgid, common_comm, to_proc, to_thread, reply, code, flags, FALSE AS received
  FROM _events.binder_transaction
  UNION ALL
  SELECT _ts, line, debug_id, common_pid, NULL, common_comm, NULL, NULL, NULL, NULL, NULL, TRUE FROM _events.binder_transaction_received
),
-- A number may come again, so a transaction is received before the next one of its number, if at all.
followed AS (
  SELECT *, LEAD(received) OVER w AS arrives, LEAD(_ts) OVER w AS next_ts, LEAD(common_pid) OVER w AS next_tid,
    LEAD(common_comm) OVER w AS next_comm
  FROM moments WINDOW w AS (PARTITION BY debug_id ORDER BY _ts, received, line)
),
sent AS (
  SELECT t._ts, t.line, debug_id, common_pid AS tid, COALESCE(CASE WHEN common_tgid > 0 THEN common_tgid END, o.pid) AS pid, common_comm AS comm, to_proc, to_thread, reply, code,
    CASE
      WHEN flags LIKE '0x%' THEN TRY_CAST(flags AS INT64) & 1
      ELSE COALESCE(TRY_CAST(flags AS INT64), 0) & 1 END = 1 AS one_way,
    CASE WHEN arrives THEN next_ts END AS received_ts, CASE WHEN arrives THEN next_tid END AS server_tid,
    CASE WHEN arrives THEN next_comm END AS server_comm
  FROM followed AS t LEFT JOIN _built.thread_processes AS o ON o.tid = t.common_pid
  WHERE NOT received
),
steps AS (
  SELECT *, tid AS client, 1 AS step FROM sent WHERE reply = 0 AND NOT one_way
  UNION ALL
  SELECT *, to_thread, -1 FROM sent WHERE reply != 0
),
levels AS (SELECT *, SUM(step) OVER (PARTITION BY client ORDER BY _ts, line) AS level FROM steps),
sunk AS (SELECT *, LEAST(0, MIN(level) OVER (PARTITION BY client ORDER BY _ts, line)) AS floor FROM levels),
matched AS (
  SELECT *, LEAD(step) OVER w AS next_step, LEAD(debug_id) OVER w AS reply_id,
    LEAD(COALESCE(received_ts, _ts)) OVER w AS reply_ts
  FROM (SELECT *, level - floor + CASE step WHEN -1 THEN 1 ELSE 0 END AS depth FROM sunk)
  WINDOW w AS (PARTITION BY client, depth ORDER BY _ts, line)
)
SELECT _ts, CASE WHEN next_step = -1 THEN reply_ts - _ts END AS _duration, debug_id AS id, tid, pid, comm, FALSE AS one_way, code,
  to_proc AS to_pid, to_thread AS to_tid, server_tid, server_comm, received_ts - _ts AS latency,
  CASE WHEN next_step = -1 THEN reply_id END AS reply_id
FROM matched WHERE step = 1
UNION ALL
SELECT _ts, received_ts - _ts, debug_id, tid, pid, comm, TRUE, code, to_proc, to_thread, server_tid, server_comm, received_ts - _ts, NULL
FROM sent WHERE reply = 0 AND one_way
ORDER BY _ts, id
