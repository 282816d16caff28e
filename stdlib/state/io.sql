-- Queues and transfers of block devices, and bytes that threads read and wrote: changes of the attributes of a state system. The attributes are `Disks/DEVICE/Waiting_queue_length`, `Driver_queue_length`, `Sectors_read` and `Sectors_written`, and `IO/TID/Bytes_read` and `Bytes_written`.
-- formats: *
-- column _ts: time of the change
-- column path: the attribute, below `Disks` or `IO`
-- column number: its new state
-- column text: NULL
WITH places AS (
  SELECT *,
    CASE WHEN step IN ('insert', 'requeue') THEN 'waiting' WHEN step = 'issue' THEN 'driver' ELSE 'none' END AS place,
    LAG(step) OVER (PARTITION BY device, sector ORDER BY _ts, line) AS last_step
  FROM _built.block_steps WHERE device IS NOT NULL
),
moves AS (
  SELECT *, CASE WHEN last_step IN ('insert', 'requeue') THEN 'waiting' WHEN last_step = 'issue' THEN 'driver' ELSE 'none' END AS last_place
  FROM places
),
lengths AS (
  SELECT _ts, line, 'Disks/' || device AS path,
    SUM((place = 'waiting')::INT64 - (last_place = 'waiting')::INT64) OVER w AS waiting,
    SUM((place = 'driver')::INT64 - (last_place = 'driver')::INT64) OVER w AS driver
  FROM moves WINDOW w AS (PARTITION BY device ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)
),
changes AS (
  SELECT _ts, line, path || '/Waiting_queue_length' AS path, waiting::INT64 AS number FROM lengths
  UNION ALL
  SELECT _ts, line, path || '/Driver_queue_length', driver::INT64 FROM lengths
  UNION ALL
  SELECT _ts, line, 'Disks/' || device || CASE operation WHEN 'read' THEN '/Sectors_read' ELSE '/Sectors_written' END,
    SUM(count) OVER (PARTITION BY device, operation ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)::INT64
  FROM _built.block_steps WHERE step = 'complete' AND operation IN ('read', 'write') AND device IS NOT NULL AND count > 0
  UNION ALL
  SELECT _ts, line, 'IO/' || tid::STRING || CASE WHEN reads THEN '/Bytes_read' ELSE '/Bytes_written' END,
    SUM(ret) OVER (PARTITION BY tid, reads ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)::INT64
  FROM (
    SELECT _ts + _duration AS _ts, line, tid, ret, name LIKE '%read%' AS reads FROM syscalls.calls
    WHERE name REGEXP '^p?(read|write)(v2?|64)?$' AND ret > 0 AND tid > 0
  )
)
SELECT _ts, path, number, NULL::STRING AS text FROM changes ORDER BY _ts, line, path
