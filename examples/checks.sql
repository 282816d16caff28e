-- What must hold for this trace.
MOUNT TRACE '../tests/data/ftrace/live_marks.trace.txt.gz' AS t;

ASSERT (SELECT COUNT(*) FROM t.diagnostics) = 0, 'the trace was read without complaint';
ASSERT (SELECT MAX(_ts) FROM t.last_ts) > 500ms, 'half a second was recorded';
