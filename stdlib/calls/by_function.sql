-- What the calls of each function add up to, see `calls`.
-- formats: *
-- column name: the function
-- column count: how often it was called
-- column total: how long it took: a call within another call of the same function is in that one's time already
-- column self: how long it took without the calls in it
-- column avg: how long a call took on average
-- column min: the shortest call
-- column max: the longest call
WITH summed AS (
  SELECT name, SUM(total) FILTER (WHERE NOT recursive) AS total, SUM(self) AS self
  FROM dctv.flame_graph(calls) GROUP BY name
),
each AS (
  SELECT name, COUNT(*) AS count, AVG(_duration) AS avg, MIN(_duration) AS min, MAX(_duration) AS max
  FROM calls GROUP BY name
)
SELECT each.name, count, total, self, avg, min, max
FROM each JOIN summed ON summed.name <=> each.name
ORDER BY self DESC, each.name
