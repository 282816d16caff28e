-- Calls of `syscalls.calls`, unordered, with the columns of `_built.system_calls` that hold their arguments.
-- formats: *
WITH results AS (
  SELECT *, CASE WHEN ended THEN CASE
      WHEN next_ret LIKE '0x%' THEN CASE
        WHEN TRY_CAST(next_ret AS UINT64) > 9223372036854775807
        THEN (TRY_CAST(next_ret AS UINT64) - 9223372036854775808)::INT64 - 9223372036854775807 - 1
        -- An error of a 32-bit kernel.
        WHEN TRY_CAST(next_ret AS INT64) BETWEEN 4294963201 AND 4294967295
        THEN TRY_CAST(next_ret AS INT64) - 4294967296
        ELSE TRY_CAST(next_ret AS INT64) END
      ELSE TRY_CAST(next_ret AS INT64) END END AS value
  FROM _built.system_calls
)
SELECT r._ts, CASE WHEN ended THEN end_ts - r._ts END AS _duration, r.tid, COALESCE(CASE WHEN common_tgid > 0 THEN common_tgid END, o.pid) AS pid,
  common_comm AS comm, called AS name, number, value AS ret, value BETWEEN -4095 AND -1 AS failed, args, line, CASE WHEN ended THEN end_line END AS end_line, list, fd, count, filename
FROM results AS r LEFT JOIN _built.thread_processes AS o ON o.tid = r.tid
