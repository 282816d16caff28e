-- Softirqs on each CPU: one span from each entry to its exit, which is the next such event on the CPU. An entry followed by another entry has lost its exit and is left out, and so are softirqs shorter than the trace's resolution.
-- formats: *
-- column cpu: the CPU
-- column vec: the softirq's number
-- column action: its name, such as `TIMER` or `NET_RX`; if the trace has none, the kernel's name for the number
-- column interrupted_tid: the interrupted thread, 0 when idle
WITH calls AS (
  SELECT _ts, line, cpu, vec, COALESCE(action, CASE vec
      WHEN 0 THEN 'HI' WHEN 1 THEN 'TIMER' WHEN 2 THEN 'NET_TX' WHEN 3 THEN 'NET_RX' WHEN 4 THEN 'BLOCK'
      WHEN 5 THEN 'IRQ_POLL' WHEN 6 THEN 'TASKLET' WHEN 7 THEN 'SCHED' WHEN 8 THEN 'HRTIMER' WHEN 9 THEN 'RCU' END) AS action,
    common_pid, TRUE AS entry FROM _events.softirq_entry
  UNION ALL
  SELECT _ts, line, cpu, vec, NULL, NULL, FALSE FROM _events.softirq_exit
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(entry) OVER w AS next_entry, LEAD(vec) OVER w AS next_vec
  FROM calls WINDOW w AS (PARTITION BY cpu ORDER BY _ts, line)
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, end_ts, cpu, vec, action, common_pid AS interrupted_tid
   FROM followed WHERE entry AND NOT next_entry AND next_vec = vec AND end_ts > _ts),
  end=>"end_ts",
  partition=>"cpu",
)
