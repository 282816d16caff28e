-- Interrupt handlers on each CPU: one span from each entry to its exit, which is the next such event on the CPU. An entry followed by another entry has lost its exit and is left out, and so are handlers shorter than the trace's resolution.
-- formats: *
-- column cpu: the CPU
-- column irq: the interrupt's number
-- column name: name of its handler
-- column ret: the handler's return value: `handled` or `unhandled`
-- column interrupted_tid: the interrupted thread, 0 when idle
WITH calls AS (
  SELECT _ts, line, cpu, irq, name, NULL::STRING AS ret, common_pid, TRUE AS entry FROM _events.irq_handler_entry
  UNION ALL
  SELECT _ts, line, cpu, irq, NULL, CASE ret WHEN '0' THEN 'unhandled' WHEN '1' THEN 'handled' ELSE ret END, NULL, FALSE
  FROM _events.irq_handler_exit
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(entry) OVER w AS next_entry, LEAD(irq) OVER w AS next_irq,
    LEAD(ret) OVER w AS next_ret
  FROM calls WINDOW w AS (PARTITION BY cpu ORDER BY _ts, line)
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, end_ts, cpu, irq, name, next_ret AS ret, common_pid AS interrupted_tid
   FROM followed WHERE entry AND NOT next_entry AND next_irq = irq AND end_ts > _ts),
  end=>"end_ts",
  partition=>"cpu",
)
