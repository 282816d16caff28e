-- Interrupts and softirqs of each CPU: after each of their events, whether one is being handled and whether it is raised.
-- formats: *
-- After a switch its CPU handles no interrupt any more, so handlers whose exits were lost end there.
WITH events AS (
  SELECT _ts, line, cpu, FALSE AS soft, irq AS id, 'entry' AS step FROM _events.irq_handler_entry
  UNION ALL
  SELECT _ts, line, cpu, FALSE, irq, 'exit' FROM _events.irq_handler_exit
  UNION ALL
  SELECT _ts, line, cpu, TRUE, vec, 'raise' FROM _events.softirq_raise
  UNION ALL
  SELECT _ts, line, cpu, TRUE, vec, 'entry' FROM _events.softirq_entry
  UNION ALL
  SELECT _ts, line, cpu, TRUE, vec, 'exit' FROM _events.softirq_exit
),
numbered AS (
  SELECT *, SUM(CASE WHEN step = 'switch' THEN 1 ELSE 0 END) OVER (PARTITION BY cpu ORDER BY _ts, line ROWS UNBOUNDED PRECEDING) AS switches
  FROM (
    SELECT * FROM events
    UNION ALL
    SELECT _ts, line, cpu, NULL, NULL, 'switch' FROM _events.sched_switch WHERE EXISTS (SELECT 1 FROM events)
  )
),
lost AS (
  SELECT cpu, soft, id, switches
  FROM (
    SELECT *, LEAD(switches) OVER (PARTITION BY cpu, soft, id ORDER BY _ts, line) AS next_switches
    FROM numbered WHERE step IN ('entry', 'exit')
  )
  WHERE step = 'entry' AND NOT next_switches <=> switches
),
steps AS (
  SELECT * FROM events
  UNION ALL
  SELECT s._ts, s.line, l.cpu, l.soft, l.id, 'exit'
  FROM lost AS l JOIN numbered AS s ON s.cpu = l.cpu AND s.switches = l.switches + 1 AND s.step = 'switch'
),
states AS (
  SELECT *,
    COALESCE(LAST_VALUE(CASE step WHEN 'entry' THEN 1 WHEN 'exit' THEN 0 END) IGNORE NULLS OVER w, 0) AS handled,
    COALESCE(LAST_VALUE(CASE step WHEN 'raise' THEN 1 WHEN 'entry' THEN 0 END) IGNORE NULLS OVER w, 0) AS raised
  FROM steps WINDOW w AS (PARTITION BY cpu, soft, id ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)
)
SELECT _ts, line, cpu, soft, id, step, handled, raised,
  handled - COALESCE(LAG(handled) OVER w, 0) AS more_handled, raised - COALESCE(LAG(raised) OVER w, 0) AS more_raised
FROM states WINDOW w AS (PARTITION BY cpu, soft, id ORDER BY _ts, line)
