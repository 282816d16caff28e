-- Which threads used the CPUs most? `pid` 0 is a CPU with nothing to do.
MOUNT TRACE '../tests/data/ftrace/live_marks.trace.txt.gz' AS t;

SELECT comm AS thread, pid, SUM(_duration) IN ms AS cpu_time, COUNT(*) AS timeslices
FROM t.scheduler.timeslices_p_cpu
WHERE pid != 0
GROUP BY comm, pid
ORDER BY cpu_time DESC
LIMIT 5;
