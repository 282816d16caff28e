-- States of threads, from each change to the next. Zero-length states, `ended` and `unknown` ones, and the last states, which have no known end, are included. `scheduler.state_changes` defines the changes, and `scheduler.thread_states_p_tid` has the states as spans.
-- formats: *
-- column _ts: start time
-- column end_ts: start of the next state, NULL for a thread's last
-- column line: the event's number in the trace, which orders equal times
-- column tid: the thread
-- column comm: its name at that time
-- column state: `running`, `runnable`, `sleeping`, `uninterruptible`, `ended` or `unknown`
-- column kernel_state: the kernel's name of the state, if the thread was switched out
-- column cpu: the CPU on which it was switched in or out, or will wake
-- column woken: whether a wakeup made it runnable
-- column waker_tid: the thread that ran where the wakeup happened, 0 when idle
-- column waker_comm: its name, or NULL
-- column waker_context: `interrupt` if an interrupt woke it, `thread` if the thread `waker_tid` did, NULL if unknown
-- column next_state: the next state
-- column next_cpu: the CPU of the next state
-- column end_line: number of the event that ends it
-- column ended_by_tid: if a wakeup ended it, the thread that ran where the wakeup happened
-- column ended_by_context: `interrupt` or `thread`, NULL if unknown
WITH wakeups AS (
  SELECT _ts, line, cpu, target_cpu, pid, comm, common_pid, common_comm, common_flags, success FROM _events.sched_waking
  UNION ALL
  SELECT _ts, line, cpu, target_cpu, pid, comm, common_pid, common_comm, common_flags, success FROM _events.sched_wakeup
  UNION ALL
  SELECT _ts, line, cpu, target_cpu, pid, comm, common_pid, common_comm, common_flags, success
  FROM _events.sched_wakeup_new
),
changes AS (
  SELECT _ts, line, 'switch' AS kind, cpu, NULL::INT64 AS target_cpu, next_pid AS tid, prev_pid AS other_tid,
    CASE
      WHEN prev_state REGEXP '^(-?[0-9]{1,18}|0x[0-9a-f]{1,15})$' THEN CASE
        WHEN prev_state::INT64 & 1026 = 1026 THEN 'sleeping'
        WHEN prev_state::INT64 & 112 != 0 OR prev_state::INT64 = 128 AND prev_tid IS NOT NULL THEN 'ended'
        WHEN prev_state::INT64 & 2 != 0 THEN 'uninterruptible'
        WHEN prev_state::INT64 & 255 = 0 THEN 'runnable'
        ELSE 'sleeping' END
      WHEN prev_state REGEXP '^(R|W|TASK_RUNNING|TASK_WAKING)' THEN 'runnable'
      WHEN prev_state REGEXP 'DEAD|ZOMBIE|EXIT' THEN 'ended'
      WHEN prev_state REGEXP 'UNINTERRUPTIBLE' THEN 'uninterruptible'
      WHEN prev_state REGEXP 'TASK_' THEN 'sleeping'
      WHEN prev_state REGEXP '[XxZ]' THEN 'ended'
      WHEN prev_state REGEXP 'D' THEN 'uninterruptible'
      WHEN prev_state IS NULL THEN 'unknown'
      ELSE 'sleeping' END AS code,
    next_comm AS own_comm, prev_comm AS other_comm, prev_state
  FROM _events.sched_switch
  UNION ALL
  SELECT _ts, line, 'wakeup', cpu, target_cpu, pid, common_pid,
    CASE
      WHEN common_flags IS NULL THEN NULL
      WHEN common_flags REGEXP '^[0-9]+$' THEN CASE WHEN common_flags::INT64 & 88 != 0 THEN 'interrupt' ELSE 'thread' END
      WHEN common_flags REGEXP '^..[hHsZz]' THEN 'interrupt'
      ELSE 'thread' END,
    comm, common_comm, NULL
  FROM wakeups WHERE success IS NULL OR success != 0
)
SELECT _ts, end_ts, line, tid, CASE side WHEN 0 THEN own_comm ELSE other_comm END AS comm, state,
  CASE WHEN side = 1 AND NOT woken THEN prev_state END AS kernel_state, cpu, woken, waker_tid,
  CASE WHEN woken THEN other_comm END AS waker_comm, waker_context, next_state, next_cpu, end_line, ended_by_tid,
  ended_by_context
FROM dctv.thread_states((SELECT * FROM changes))
