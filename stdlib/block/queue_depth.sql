-- Number of requests in progress on each device over time. See `block.requests`. Requests without a recorded completion are left out, and so are those shorter than the trace's resolution.
-- formats: *
-- column device: the device, as `major,minor`
-- column open: number of requests in progress
SELECT SPAN * FROM dctv.concurrency(
  (SELECT _ts, _duration, device FROM block.requests WHERE _duration > 0ns),
  partition=>"device",
)
