-- How busy was each CPU in each tenth of a second? NULL: the trace does not say.
MOUNT TRACE '../tests/data/ftrace/live_marks.trace.txt.gz' AS t;

CREATE VIEW slices AS
SELECT SPAN pid FROM t.scheduler.timeslices_p_cpu;

-- Over the time that is known, since the last period is shorter and a CPU may be traced for a part of one.
SELECT SPAN COALESCE(SUM(_duration) FILTER (WHERE pid != 0), 0) / SUM(_duration) AS load, SUM(_duration) IN ms AS known
FROM slices GROUP USING SPANS FROM t.quantize(100ms);

ASSERT (SELECT COUNT(*) FROM slices WHERE pid != 0) > 0, 'something ran';
