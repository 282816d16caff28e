-- Requests to block devices: one row for each that is issued, with the completion that is the next event of its device and sector. A request has no duration if it is issued again first, or never seen to complete; completions without an issue are left out. Of a trace that has no `block_rq_issue`, requests are those of `block_io_start` and `block_io_done`, which the kernel begins to count a little earlier and which tell no error.
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
