-- Idle state of each CPU: one span from each `cpu_idle` event to the CPU's next. The last ones have no known end, and are left out. A CPU that is not idle has no span.
-- formats: *
-- column cpu: the CPU
-- column state: the idle state; larger is deeper
SELECT SPAN * FROM dctv.time_series_to_spans(
  sources=>[{source=>_events.cpu_idle, partition=>"cpu_id"}],
  columns=>["state"],
  partition=>"cpu",
) WHERE state NOT IN (4294967295, -1)
