-- Requests to block devices: one row for each request that is issued, with its completion, which is the next event of the same device and sector. A request has no duration if it is issued again first, or if its completion is not recorded; completions without an issue are left out. In a trace without `block_rq_issue`, requests come from `block_io_start` and `block_io_done`, where the kernel starts to measure slightly earlier, and records no errors.
-- formats: *
-- column _ts: time at which it is issued to the device
-- column _duration: time until it completes, NULL if that is not recorded
-- column device: the device, as `major,minor`
-- column sector: its first sector, of 512 bytes
-- column bytes: bytes to transfer
-- column operation: `read`, `write`, `discard`, `flush` or `other`
-- column rwbs: the kernel's letters for the operation: `R`, `W`, `D`, `F`, `N`, and `S` for sync, `A` for read-ahead, `M` for metadata; in traces with numbers, the number
-- column error: error code of the completion, 0 for success
-- column tid: the thread that issued it, which is not always the one on whose behalf it was issued
-- column comm: the thread's name
-- column line: the event's number in the trace
WITH followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(step) OVER w AS next_step, LEAD(error) OVER w AS end_error
  FROM _built.block_steps WHERE step IN ('issue', 'complete')
  WINDOW w AS (PARTITION BY device, sector ORDER BY _ts, line, step)
)
SELECT _ts, CASE WHEN next_step = 'complete' THEN end_ts - _ts END AS _duration, device, sector,
  CASE WHEN bytes > 0B THEN bytes ELSE count * 512 IN B END AS bytes, operation, rwbs,
  CASE WHEN next_step = 'complete' THEN end_error END AS error, tid, comm, line
FROM followed WHERE step = 'issue'
ORDER BY _ts, line, device, sector
