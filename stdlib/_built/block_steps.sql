-- Events of block device requests, with the fields of every form in which traces record them.
-- formats: *
WITH events AS (
  SELECT _ts, line, 'issue' AS step, dev, sector, nr_sector, bytes, rwbs, text, NULL::INT64 AS error, common_pid AS tid,
    COALESCE(comm, common_comm) AS comm
  FROM _events.block_rq_issue
  UNION ALL
  SELECT _ts, line, 'complete', dev, sector, nr_sector, NULL, rwbs, text, error, NULL, NULL FROM _events.block_rq_complete
  WHERE EXISTS (SELECT 1 FROM _events.block_rq_issue) OR NOT EXISTS (SELECT 1 FROM _events.block_io_done)
  UNION ALL
  -- These are about the same requests, from the time at which the kernel accounts for them.
  SELECT _ts, line, 'issue', dev, sector, nr_sector, bytes, rwbs, text, NULL, common_pid, COALESCE(comm, common_comm)
  FROM _events.block_io_start WHERE NOT EXISTS (SELECT 1 FROM _events.block_rq_issue)
  UNION ALL
  SELECT _ts, line, 'complete', dev, sector, nr_sector, NULL, rwbs, text, NULL, NULL, NULL
  FROM _events.block_io_done WHERE NOT EXISTS (SELECT 1 FROM _events.block_rq_issue)
  UNION ALL
  SELECT _ts, line, 'insert', dev, sector, nr_sector, bytes, rwbs, text, NULL, common_pid, COALESCE(comm, common_comm)
  FROM _events.block_rq_insert
  UNION ALL
  SELECT _ts, line, 'merge', dev, sector, nr_sector, NULL, rwbs, text, NULL, NULL, NULL FROM _events.block_rq_merge
  UNION ALL
  SELECT _ts, line, 'requeue', dev, sector, nr_sector, NULL, rwbs, text, NULL, NULL, NULL FROM _events.block_rq_requeue
),
parts AS (
  SELECT *, REGEXP_EXTRACT(text, '^ *([0-9]+,[0-9]+)', 1) AS text_dev, REGEXP_EXTRACT(text, '^ *[0-9]+,[0-9]+ +([A-Z]+)', 1) AS text_rwbs,
    TRY_CAST(REGEXP_EXTRACT(text, '([0-9]+) \+ [0-9]+', 1) AS INT64) AS text_sector,
    TRY_CAST(REGEXP_EXTRACT(text, '[0-9]+ \+ ([0-9]+)', 1) AS INT64) AS text_count,
    TRY_CAST(REGEXP_EXTRACT(text, ' ([0-9]+) \([^)]*\) *[0-9]+ \+', 1) AS INT64) AS text_bytes,
    TRY_CAST(REGEXP_EXTRACT(text, '\[(-?[0-9]+)\] *$', 1) AS INT64) AS text_error
  FROM events
),
plain AS (
  SELECT _ts, line, step, COALESCE(sector, text_sector) AS sector, COALESCE(nr_sector, text_count) AS count,
    COALESCE(bytes, text_bytes IN B) AS bytes, COALESCE(rwbs, text_rwbs) AS rwbs, COALESCE(error, text_error) AS error, tid, comm,
    CASE WHEN dev IS NULL THEN text_dev
      WHEN dev REGEXP '^[0-9]+$' THEN (dev::INT64 >> 20)::STRING || ',' || (dev::INT64 & 1048575)::STRING
      ELSE dev END AS device
  FROM parts
)
SELECT *,
  CASE
    WHEN rwbs REGEXP '^[0-9]+$' THEN CASE
      WHEN rwbs::INT64 & 2 != 0 THEN 'discard' WHEN rwbs::INT64 & 1 != 0 THEN 'write' WHEN rwbs::INT64 & 4 != 0 THEN 'read'
      WHEN rwbs::INT64 & 1280 != 0 THEN 'flush' ELSE 'other' END
    WHEN rwbs REGEXP 'D' THEN 'discard'
    WHEN rwbs REGEXP 'W' THEN 'write'
    WHEN rwbs REGEXP 'R' THEN 'read'
    WHEN rwbs REGEXP 'F' THEN 'flush'
    ELSE 'other' END AS operation
FROM plain
