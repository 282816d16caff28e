-- The idle state that each CPU is in: one span from the event that tells it to the next one of the CPU; what begins last is left out, since its end is not known. There is no span while the CPU is not idle.
-- formats: *
-- column cpu: the CPU
-- column state: the idle state, larger is deeper
SELECT SPAN * FROM dctv.time_series_to_spans(
  sources=>[{source=>_events.cpu_idle, partition=>"cpu_id"}],
  columns=>["state"],
  partition=>"cpu",
) WHERE state NOT IN (4294967295, -1)
