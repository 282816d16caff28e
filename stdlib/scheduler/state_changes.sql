-- Every moment at which a thread's state changes, from switches and wakeups. A wakeup counts if the thread was asleep, or nothing was known of it, so `sched_waking`, `sched_wakeup` and `sched_wakeup_new` together count once; the idle threads are left out.
-- formats: ftrace-text, trace-dat, perfetto, perf-data, ctf
-- column line: the event's line in the trace, which orders equal times
-- column tid: the thread
-- column comm: its name then
-- column state: what it does from then on: `running`, `runnable` (waits for a CPU: woken, or switched out in state `R`, `R+` or `W`), `uninterruptible` (switched out in a state with `D`), `sleeping` (in any other state, such as `S`, `T`, `t`, `P` or `I`), `ended` (in a state with `X`, `x` or `Z`, or 16, 32 or 64 where states are numbers), or `unknown` (its CPU was switched from another thread, so events are missing)
-- column kernel_state: the state as the kernel names it, if the thread was switched out
-- column cpu: the CPU it was switched in or out on, or is to wake on
-- column woken: whether a wakeup made it runnable
-- column waker_tid: what ran where the wakeup happened, 0 when idle; it may have been interrupted, and have nothing to do with it
-- column waker_comm: its name
WITH switches AS (
  SELECT *, LEAD(_ts) OVER w AS until_ts, LEAD(line) OVER w AS until_line
  FROM _events.sched_switch WINDOW w AS (PARTITION BY cpu ORDER BY _ts, line)
),
sides AS (
  SELECT _ts, line, next_pid AS tid, next_comm AS comm, 'running' AS state, NULL::STRING AS kernel_state, cpu,
    until_ts, until_line, 1 AS step
  FROM switches WHERE next_pid != 0
  UNION ALL
  SELECT _ts, line, prev_pid, prev_comm,
    CASE
      WHEN prev_state REGEXP '^[0-9]+$' THEN CASE
        WHEN prev_state::INT64 & 112 != 0 THEN 'ended'
        WHEN prev_state::INT64 & 2 != 0 THEN 'uninterruptible'
        WHEN prev_state::INT64 & 255 = 0 THEN 'runnable'
        ELSE 'sleeping' END
      WHEN prev_state GLOB '[RW]*' THEN 'runnable'
      WHEN prev_state GLOB '*[XxZ]*' THEN 'ended'
      WHEN prev_state GLOB '*D*' THEN 'uninterruptible'
      WHEN prev_state IS NULL THEN 'unknown'
      ELSE 'sleeping' END,
    prev_state, cpu, NULL, NULL, 0
  FROM switches WHERE prev_pid != 0
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS next_ts, LEAD(line) OVER w AS next_line
  FROM sides WINDOW w AS (PARTITION BY tid ORDER BY _ts, line, step)
),
wakeups AS (
  SELECT _ts, line, pid AS tid, comm, target_cpu AS cpu, common_pid AS waker_tid, common_comm AS waker_comm, success
  FROM _events.sched_waking
  UNION ALL
  SELECT _ts, line, pid, comm, target_cpu, common_pid, common_comm, success FROM _events.sched_wakeup
  UNION ALL
  SELECT _ts, line, pid, comm, target_cpu, common_pid, common_comm, success FROM _events.sched_wakeup_new
),
changes AS (
  SELECT _ts, line, tid, comm, state, kernel_state, cpu, FALSE AS woken, NULL::INT64 AS waker_tid,
    NULL::STRING AS waker_comm, step
  FROM followed
  UNION ALL
  SELECT until_ts, until_line, tid, comm, 'unknown', NULL, cpu, FALSE, NULL, NULL, 0
  FROM followed
  WHERE until_ts < next_ts OR until_ts = next_ts AND until_line < next_line
    OR until_ts IS NOT NULL AND next_ts IS NULL
  UNION ALL
  SELECT _ts, line, tid, comm, 'runnable', NULL, cpu, TRUE, waker_tid, waker_comm, 0
  FROM wakeups WHERE tid != 0 AND (success IS NULL OR success != 0)
),
ordered AS (
  SELECT *, LAG(state) OVER (PARTITION BY tid ORDER BY _ts, line, step) AS before FROM changes
)
SELECT EVENT * FROM dctv.as_events((
  SELECT _ts, line, tid, comm, state, kernel_state, cpu, woken, waker_tid, waker_comm
  FROM ordered
  WHERE NOT woken OR before IS NULL OR before NOT IN ('running', 'runnable')
  ORDER BY _ts, line, step
))
