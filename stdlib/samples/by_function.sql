-- Samples of each function. See `samples.samples`.
-- formats: *
-- column name: the function
-- column self_samples: number of samples with the function innermost
-- column total_samples: number of samples with the function anywhere on the stack
-- column self_period: sum of the periods of `self_samples`, 0 without periods
-- column total_period: sum of the periods of `total_samples`, 0 without periods
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
