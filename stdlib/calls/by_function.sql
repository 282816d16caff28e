-- Calls of each function, summed up; see `calls`. `dctv report` prints the same sums.
-- formats: *
-- column name: the function
-- column count: number of calls
-- column total: total duration; calls inside another call of the same function do not count again
-- column self: total duration without nested calls, and without `off_cpu`
-- column off_cpu: time for which its threads were off the CPU in the function itself, not in nested calls, according to the function tracer; NULL if that recorded no context switches
-- column avg: mean duration of a call
-- column min: shortest duration of a call
-- column max: longest duration of a call
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
