-- Requests to block devices: one row for each that is issued, with the completion that is the next event of its device and sector. A request has no duration if it is issued again first, or never seen to complete; completions without an issue are left out.
-- formats: *
-- column _ts: when it is issued to the device
-- column _duration: until it completes, NULL if that is not seen
-- column device: the device, as `major,minor`
-- column sector: its first sector, of 512 bytes
-- column bytes: how much it moves
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column rwbs: the kernel's letters for it: `R`, `W`, `D`, `F`, `N`, and `S` for sync, `A` for read-ahead, `M` for metadata; where the trace has a number, that number
-- column error: what it completed with, 0 if well
-- column tid: the thread that issued it, which is not always the one that wanted it
-- column comm: its name
-- column line: the event's number in the trace
WITH told AS (
  SELECT _ts, line, TRUE AS issue, dev, sector, nr_sector, bytes, rwbs, text, NULL::INT64 AS error, common_pid AS tid,
    COALESCE(comm, common_comm) AS comm
  FROM _events.block_rq_issue
  UNION ALL
  SELECT _ts, line, FALSE, dev, sector, nr_sector, NULL, rwbs, text, error, NULL, NULL FROM _events.block_rq_complete
),
parts AS (
  SELECT *, REGEXP_EXTRACT(text, '^ *([0-9]+,[0-9]+)', 1) AS text_dev, REGEXP_EXTRACT(text, '^ *[0-9]+,[0-9]+ +([A-Z]+)', 1) AS text_rwbs,
    TRY_CAST(REGEXP_EXTRACT(text, '([0-9]+) \+ [0-9]+', 1) AS INT64) AS text_sector,
    TRY_CAST(REGEXP_EXTRACT(text, '[0-9]+ \+ ([0-9]+)', 1) AS INT64) AS text_count,
    TRY_CAST(REGEXP_EXTRACT(text, ' ([0-9]+) \([^)]*\) *[0-9]+ \+', 1) AS INT64) AS text_bytes,
    TRY_CAST(REGEXP_EXTRACT(text, '\[(-?[0-9]+)\] *$', 1) AS INT64) AS text_error
  FROM told
),
plain AS (
  SELECT _ts, line, issue, COALESCE(sector, text_sector) AS sector, COALESCE(nr_sector, text_count) AS count,
    COALESCE(bytes, text_bytes IN B) AS bytes, COALESCE(rwbs, text_rwbs) AS rwbs, COALESCE(error, text_error) AS error, tid, comm,
    CASE WHEN dev IS NULL THEN text_dev
      WHEN dev REGEXP '^[0-9]+$' THEN (dev::INT64 >> 20)::STRING || ',' || (dev::INT64 & 1048575)::STRING
      ELSE dev END AS device
  FROM parts
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(issue) OVER w AS next_issue, LEAD(error) OVER w AS end_error
  FROM plain WINDOW w AS (PARTITION BY device, sector ORDER BY _ts, line, issue)
)
SELECT _ts, CASE WHEN NOT next_issue THEN end_ts - _ts END AS _duration, device, sector,
  CASE WHEN bytes > 0B THEN bytes ELSE count * 512 IN B END AS bytes,
  CASE
    WHEN rwbs REGEXP '^[0-9]+$' THEN CASE
      WHEN rwbs::INT64 & 2 != 0 THEN 'discard' WHEN rwbs::INT64 & 1 != 0 THEN 'write' WHEN rwbs::INT64 & 4 != 0 THEN 'read'
      WHEN rwbs::INT64 & 1280 != 0 THEN 'flush' ELSE 'other' END
    WHEN rwbs REGEXP 'D' THEN 'discard'
    WHEN rwbs REGEXP 'W' THEN 'write'
    WHEN rwbs REGEXP 'R' THEN 'read'
    WHEN rwbs REGEXP 'F' THEN 'flush'
    ELSE 'other' END AS operation,
  rwbs, CASE WHEN NOT next_issue THEN end_error END AS error, tid, comm, line
FROM followed WHERE issue
ORDER BY _ts, line, device, sector
