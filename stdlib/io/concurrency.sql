-- How many calls of input and output were under way, over time: one span from each change to the next. Calls without a known end, and those without length, are left out.
-- formats: *
-- column open: how many
SELECT SPAN * FROM dctv.concurrency((SELECT _ts, _duration FROM io.calls WHERE _duration > 0ns))
