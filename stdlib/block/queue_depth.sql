-- How many requests each device was working on, over time; see `block.requests`. Requests that are not seen to complete, and those that took less time than the trace resolves, are left out.
-- formats: *
-- column device: the device, as `major,minor`
-- column open: how many requests
SELECT SPAN * FROM dctv.concurrency(
  (SELECT _ts, _duration, device FROM block.requests WHERE _duration > 0ns),
  partition=>"device",
)
