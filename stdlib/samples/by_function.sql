-- How many samples each function was in, see `samples.samples`.
-- formats: *
-- column name: the function
-- column self_samples: how many samples had it innermost
-- column total_samples: how many samples had it anywhere
-- column self_period: what the first ones add up to, 0 without periods
-- column total_period: what the others add up to
WITH counted AS (
  SELECT name, SUM(self) AS self_samples, SUM(total) FILTER (WHERE NOT recursive) AS total_samples
  FROM dctv.flame_graph(samples.samples) GROUP BY name
),
weighed AS (
  SELECT name, SUM(self) AS self_period, SUM(total) FILTER (WHERE NOT recursive) AS total_period
  FROM dctv.flame_graph(samples.samples, weight=>"period") GROUP BY name
)
SELECT counted.name, self_samples, total_samples, self_period, total_period
FROM counted JOIN weighed ON weighed.name = counted.name
ORDER BY self_samples DESC, total_samples DESC, counted.name
