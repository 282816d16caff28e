-- The limits of each CPU's frequency: one span from a change to the next one; the last ones, which have no end, are left out.
-- formats: *
-- column cpu: the CPU
-- column min_frequency: the lowest frequency that is allowed
-- column max_frequency: the highest frequency that is allowed
SELECT SPAN * FROM dctv.time_series_to_spans(
  sources=>[{
    source=>(SELECT _ts, cpu_id, COALESCE(min, min_freq) AS min_frequency, COALESCE(max, max_freq) AS max_frequency
             FROM _events.cpu_frequency_limits ORDER BY _ts),
    partition=>"cpu_id"}],
  columns=>["min_frequency", "max_frequency"],
  partition=>"cpu",
)
