-- Frequency of each CPU, while it is known: one span from each change to the next.
-- formats: *
-- column cpu: the CPU
-- column frequency: its frequency
SELECT SPAN * FROM dctv.time_series_to_spans(
  sources=>[{source=>_events.cpu_frequency, partition=>"cpu_id"}],
  columns=>[{column=>"frequency", source_column=>"state"}],
  partition=>"cpu",
)
