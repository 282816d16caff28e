-- Frequency limits of each CPU: one span from each change to the next. The last ones have no known end, and are left out.
-- formats: *
-- column cpu: the CPU
-- column min_frequency: lowest allowed frequency
-- column max_frequency: highest allowed frequency
SELECT SPAN * FROM dctv.time_series_to_spans(
  sources=>[{
    source=>(SELECT _ts, cpu_id, COALESCE(min, min_freq) AS min_frequency, COALESCE(max, max_freq) AS max_frequency
             FROM _events.cpu_frequency_limits ORDER BY _ts),
    partition=>"cpu_id"}],
  columns=>["min_frequency", "max_frequency"],
  partition=>"cpu",
)
