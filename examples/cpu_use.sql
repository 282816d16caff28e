-- How busy was each CPU in each tenth of a second? NULL: the trace does not say.
MOUNT TRACE '../tests/data/ftrace/live_marks.trace.txt.gz' AS t;

CREATE VIEW busy AS
SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu WHERE pid != 0;

SELECT SPAN SUM(_duration) / 100ms AS load
FROM busy GROUP USING SPANS FROM t.quantize(100ms);

ASSERT (SELECT COUNT(*) FROM busy) > 0, 'something ran';
