-- States of CPUs, threads and interrupts: kernel events as changes of the attributes of a state system. `docs/explanation/state-system.md` describes the attributes and their states.
-- formats: *
-- column _ts: time of the change
-- column path: the attribute, below `CPUs`, `Threads`, `IRQs` or `Soft_IRQs`
-- column number: its new state, if it is a number
-- column text: its new state, if it is text
WITH facts AS (
  SELECT *,
    LAG(CASE WHEN NOT known_before THEN name END) IGNORE NULLS OVER w AS last_name,
    LAG(prio) IGNORE NULLS OVER w AS last_prio,
    LAG(cpu) IGNORE NULLS OVER w AS last_cpu,
    LAG(CASE WHEN NOT known_before THEN parent END) IGNORE NULLS OVER w AS last_parent,
    LAG(CASE WHEN NOT known_before THEN process END) IGNORE NULLS OVER w AS last_process,
    LAG(name) IGNORE NULLS OVER w AS known_name,
    LAG(parent) IGNORE NULLS OVER w AS known_parent,
    LAG(process) IGNORE NULLS OVER w AS known_process,
    'Threads/' || CASE WHEN thread < 0 THEN '0_' || (-1 - thread)::STRING ELSE thread::STRING END AS path
  FROM _built.kernel_threads WINDOW w AS (PARTITION BY thread ORDER BY _ts, line, rank)
),
starts AS (
  SELECT tid, MIN(_ts) AS first_ts
  FROM (
    SELECT tid, _ts FROM scheduler.states
    UNION ALL
    SELECT COALESCE(child_tid, child_pid), _ts FROM _events.sched_process_fork
  )
  GROUP BY tid
),
changes AS (
  SELECT _ts, line, 2 AS rank, 'CPUs/' || cpu::STRING || '/Current_thread' AS path, next_pid AS number, NULL::STRING AS text
  FROM _events.sched_switch
  UNION ALL
  SELECT _ts, line, rank, 'CPUs/' || cpu::STRING,
    CASE WHEN irqs > 0 THEN 16 WHEN softirqs > 0 THEN 8 WHEN tid > 0 AND calling THEN 4 WHEN tid > 0 THEN 2
      WHEN tid = 0 AND raised > 0 THEN 1 WHEN tid = 0 THEN 0 END, NULL
  FROM _built.kernel_cpus
  UNION ALL
  SELECT _ts, line, rank, 'Threads/' || CASE WHEN tid = 0 THEN '0_' || cpu::STRING ELSE tid::STRING END,
    CASE WHEN irqs > 0 OR softirqs > 0 THEN 4 WHEN calling THEN 3 ELSE 2 END, NULL
  FROM _built.kernel_cpus WHERE tid IS NOT NULL
  UNION ALL
  SELECT _ts, line, 1, 'Threads/' || tid::STRING,
    CASE state WHEN 'runnable' THEN 5 WHEN 'sleeping' THEN 1 WHEN 'uninterruptible' THEN 1 WHEN 'unknown' THEN 0 END, NULL
  FROM scheduler.states WHERE state != 'running'
  UNION ALL
  SELECT _ts, line, 1, 'Threads/0_' || cpu::STRING, 5, NULL FROM _events.sched_switch WHERE prev_pid = 0
  UNION ALL
  SELECT _ts, line, 0, 'Threads/' || COALESCE(child_tid, child_pid)::STRING, 5, NULL FROM _events.sched_process_fork
  UNION ALL
  SELECT _ts, line, 2, 'Threads/' || pid::STRING, NULL, NULL FROM _events.sched_process_free
  UNION ALL
  SELECT d._ts, d.line, 0, 'Threads/' || d.tid::STRING,
    CASE WHEN d.status REGEXP '^(2|.*WAIT_CPU)$' THEN 5 WHEN d.status REGEXP '^(1|.*WAIT_FORK)$' THEN 7
      WHEN d.status REGEXP '^(5|.*WAIT)$' THEN 6 ELSE 0 END, NULL
  FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY tid ORDER BY _ts, line) AS number FROM _events.lttng_statedump_process_state
  ) AS d LEFT JOIN starts ON starts.tid = d.tid
  WHERE d.tid > 0 AND d.number = 1 AND (starts.first_ts IS NULL OR starts.first_ts > d._ts)
  UNION ALL
  SELECT _ts, line, 1, 'Threads/' || tid::STRING || '/System_call', NULL, called FROM _built.system_calls WHERE tid > 0
  UNION ALL
  SELECT end_ts, end_line, 0, 'Threads/' || tid::STRING || '/System_call', NULL, NULL FROM _built.system_calls
  WHERE tid > 0 AND NOT next_entry
  UNION ALL
  SELECT _ts, line, 2, 'Threads/' || tid::STRING || '/System_call', NULL, NULL FROM _built.kernel_runs
  WHERE rank = 2 AND was_calling AND NOT calling
  UNION ALL
  SELECT _ts, line, rank, path || '/Exec_name', NULL, NULLIF(name, '') FROM facts
  WHERE CASE WHEN known_before THEN name != '' AND COALESCE(known_name, '') = '' ELSE name != COALESCE(last_name, '') END
  UNION ALL
  SELECT _ts, line, rank, path || '/Prio', NULLIF(prio, -99999), NULL FROM facts WHERE prio != COALESCE(last_prio, -99999)
  UNION ALL
  SELECT _ts, line, rank, path || '/Current_cpu_rq', NULLIF(cpu, -99999), NULL FROM facts WHERE cpu != COALESCE(last_cpu, -99999)
  UNION ALL
  SELECT _ts, line, rank, path || '/PPID', NULLIF(parent, -99999), NULL FROM facts
  WHERE CASE WHEN known_before THEN COALESCE(known_parent, -99999) = -99999 ELSE parent != COALESCE(last_parent, -99999) END
  UNION ALL
  SELECT _ts, line, rank, path || '/PID', NULLIF(process, -99999), NULL FROM facts
  WHERE CASE WHEN known_before THEN process IS NOT NULL AND COALESCE(known_process, -99999) = -99999
    ELSE process != COALESCE(last_process, -99999) END
  UNION ALL
  SELECT (SELECT _ts FROM _built.begin), -1, 0, 'Threads/' || tid::STRING || '/PID', pid, NULL FROM _tables.thread_names
  WHERE pid != tid AND pid > 0 AND tid IN (SELECT thread FROM _built.kernel_threads)
  UNION ALL
  SELECT _ts, line, 0, CASE WHEN soft THEN 'Soft_IRQs/' ELSE 'IRQs/' END || id::STRING, CASE WHEN handled > 0 OR raised > 0 THEN cpu END, NULL
  FROM _built.kernel_handlers
  UNION ALL
  SELECT _ts, line, 0, 'CPUs/' || cpu::STRING || CASE WHEN soft THEN '/Soft_IRQs/' ELSE '/IRQs/' END || id::STRING,
    NULLIF(CASE WHEN soft THEN 8 * handled + raised ELSE 16 * handled END, 0), NULL
  FROM _built.kernel_handlers
  UNION ALL
  SELECT MIN(_ts), MIN(line), 0, 'IRQs/' || irq::STRING || '/Name', NULL, name FROM _events.irq_handler_entry
  WHERE name IS NOT NULL GROUP BY irq, name
  UNION ALL
  SELECT _ts, line, 0, 'CPUs/' || cpu_id::STRING || '/Frequency', UNITLESS(state), NULL FROM _events.cpu_frequency
  UNION ALL
  SELECT _ts, line, 0, 'CPUs/' || cpu_id::STRING || '/Frequency/min', UNITLESS(COALESCE(min, min_freq)), NULL FROM _events.cpu_frequency_limits
  UNION ALL
  SELECT _ts, line, 0, 'CPUs/' || cpu_id::STRING || '/Frequency/max', UNITLESS(COALESCE(max, max_freq)), NULL FROM _events.cpu_frequency_limits
)
SELECT _ts, path, number, text FROM changes WHERE path IS NOT NULL ORDER BY _ts, line, rank, path
