-- What the calls of each function add up to, see `calls`. `dctv report` tells the same sums.
-- formats: *
-- column name: the function
-- column count: how often it was called
-- column total: how long it took: a call within another call of the same function is in that one's time already
-- column self: how long it took without the calls in it, and without `off_cpu`
-- column off_cpu: how long a recorder of functions saw its threads off the CPU in it, not in the calls in it; NULL if it saw no switch at all
-- column avg: how long a call took on average
-- column min: the shortest call
-- column max: the longest call
WITH summed AS (
  SELECT name, SUM(total) FILTER (WHERE NOT recursive) AS total, SUM(self) AS self
  FROM dctv.flame_graph(calls) GROUP BY name
),
waited AS (
  SELECT c.name, SUM(s.dur) AS off_cpu FROM _events.schedule AS s JOIN calls AS c ON c.id = s.`call` GROUP BY c.name
),
each AS (
  SELECT name, COUNT(*) AS count, AVG(_duration) AS avg, MIN(_duration) AS min, MAX(_duration) AS max
  FROM calls GROUP BY name
)
SELECT each.name, count, total, self - COALESCE(off_cpu, 0ns) AS self,
  IF(EXISTS (SELECT 1 FROM _events.schedule), COALESCE(off_cpu, 0ns), NULL) AS off_cpu, avg, min, max
FROM each JOIN summed ON summed.name <=> each.name LEFT JOIN waited ON waited.name <=> each.name
ORDER BY self DESC, each.name
