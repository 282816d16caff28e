-- Number of input and output calls in progress over time: one span from each change to the next. Calls without a known end, and those of zero length, are left out.
-- formats: *
-- column open: number of calls in progress
SELECT SPAN * FROM dctv.concurrency((SELECT _ts, _duration FROM io.calls WHERE _duration > 0ns))
