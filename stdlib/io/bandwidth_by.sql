-- Bytes read and written in equal periods. Periods begin at multiples of `period`. The bytes of a call that spans several periods are distributed in proportion to time. Periods without a call that transfers bytes have no row.
-- formats: *
-- parameter period positive ns = 100ms: length of each period
-- column _ts: start of the period
-- column calls: number of data-transferring calls in progress in it
-- column bytes_read: bytes read in it
-- column bytes_written: bytes written in it
-- column read_rate: read throughput
-- column write_rate: write throughput
WITH moves AS (
  SELECT _ts, GREATEST(COALESCE(_duration, 0ns), 1ns) AS length, direction, bytes FROM io.calls WHERE direction IS NOT NULL AND bytes IS NOT NULL
),
cut AS (
  SELECT _ts, length, direction, bytes,
    UNNEST(RANGE(unitless(_ts - (_ts % (:period IN ns) + (:period IN ns)) % (:period IN ns)), unitless(_ts + length), unitless(:period IN ns))) IN ns AS start
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
