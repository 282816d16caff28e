-- How much was read and written, by equal periods that begin at 0: the bytes of a call that reaches over several are shared out by time. Periods in which no call that moves bytes was under way have no row.
-- formats: *
-- parameter period ns = 100ms: how long each period is
-- column _ts: when the period begins
-- column calls: how many calls that move bytes were under way in it
-- column bytes_read: how many bytes were read in it
-- column bytes_written: how many bytes were written in it
-- column read_rate: bytes read by the length of a period
-- column write_rate: bytes written by the length of a period
WITH moves AS (
  SELECT _ts, GREATEST(COALESCE(_duration, 0ns), 1ns) AS length, direction, bytes FROM io.calls WHERE direction IS NOT NULL AND bytes IS NOT NULL
),
cut AS (
  SELECT _ts, length, direction, bytes,
    UNNEST(RANGE(unitless(_ts IN ns) // unitless(:period IN ns), (unitless((_ts + length) IN ns) - 1) // unitless(:period IN ns) + 1)) * (:period IN ns) AS start
  FROM moves
),
shared AS (
  SELECT start, direction, bytes * ((LEAST(_ts + length, start + (:period IN ns)) - GREATEST(_ts, start)) / length) AS part
  FROM cut
)
SELECT start AS _ts, COUNT(*) AS calls, COALESCE(SUM(part) FILTER (WHERE direction = 'read'), 0B) AS bytes_read,
  COALESCE(SUM(part) FILTER (WHERE direction = 'write'), 0B) AS bytes_written,
  COALESCE(SUM(part) FILTER (WHERE direction = 'read'), 0B) / (:period IN ns) AS read_rate,
  COALESCE(SUM(part) FILTER (WHERE direction = 'write'), 0B) / (:period IN ns) AS write_rate
FROM shared
GROUP BY start
ORDER BY _ts
