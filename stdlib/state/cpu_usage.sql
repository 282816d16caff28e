-- Time for which each CPU has run each thread since the start of the trace: changes of the attributes of a state system. `CPU_usage/CPU/TID` is in ns. It changes when the thread stops running; until then, `CPUs/CPU/Current_thread` shows since when it has been running. Before a CPU's first switch it ran the thread that this switch switches out. Idle time is left out.
-- formats: *
-- column _ts: time at which the thread stops running
-- column path: the attribute, `CPU_usage/CPU/TID`
-- column number: time for which the CPU has run it so far, in ns
-- column text: NULL
WITH turns AS (
  SELECT _ts, line, cpu, COALESCE(LAG(next_pid) OVER w, prev_pid) AS tid, UNITLESS(_ts - COALESCE(LAG(_ts) OVER w, (SELECT _ts FROM _built.begin))) AS ran
  FROM _events.sched_switch WINDOW w AS (PARTITION BY cpu ORDER BY _ts, line)
),
sums AS (
  SELECT _ts, line, cpu, tid, SUM(ran) OVER (PARTITION BY cpu, tid ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)::INT64 AS total
  FROM turns WHERE tid > 0 AND ran > 0
)
SELECT _ts, 'CPU_usage/' || cpu::STRING || '/' || tid::STRING AS path, total AS number, NULL::STRING AS text
FROM sums WHERE cpu IS NOT NULL ORDER BY _ts, line, cpu
