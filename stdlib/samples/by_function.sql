-- Samples of each function, by the sampled event. See `samples.samples`.
-- formats: *
-- column name: the function
-- column event: the sampled event, or NULL; a reserved word, so write `event` in backticks
-- column self_samples: number of samples with the function innermost
-- column total_samples: number of samples with the function anywhere on the stack
-- column self_period: sum of the periods of `self_samples`, 0 without periods
-- column total_period: sum of the periods of `total_samples`, 0 without periods
WITH events AS (
  SELECT `event`, ROW_NUMBER() OVER (ORDER BY `event`)::STRING AS number
  FROM (SELECT DISTINCT `event` FROM samples.samples)
),
stacks AS (
  SELECT `event`, stack, COUNT(*) AS samples, SUM(period) AS period FROM samples.samples
  WHERE stack IS NOT NULL GROUP BY `event`, stack
),
-- The stacks of an event have a root of their own, which no function is called like.
rooted AS (
  SELECT CHR(1) || number || ';' || stack AS stack, samples, period
  FROM stacks JOIN events ON events.`event` <=> stacks.`event`
),
counted AS (
  SELECT SPLIT_PART(stack, ';', 1) AS root, name, SUM(self) AS self_samples,
    SUM(total) FILTER (WHERE NOT recursive) AS total_samples
  FROM dctv.flame_graph(rooted, weight=>"samples") WHERE depth > 0 GROUP BY root, name
),
weighed AS (
  SELECT SPLIT_PART(stack, ';', 1) AS root, name, SUM(self) AS self_period,
    SUM(total) FILTER (WHERE NOT recursive) AS total_period
  FROM dctv.flame_graph(rooted, weight=>"period") WHERE depth > 0 GROUP BY root, name
)
SELECT counted.name, `event`, self_samples, total_samples, self_period, total_period
FROM counted JOIN weighed ON weighed.root = counted.root AND weighed.name = counted.name
JOIN events ON CHR(1) || number = counted.root
ORDER BY self_samples DESC, total_samples DESC, counted.name, `event`
