-- How long threads of each name were running, waited for a CPU (runnable), or for a device (uninterruptible).
-- formats: ctf, ftrace-graph, ftrace-text, perf-data, perf-script, perfetto, records, trace-dat
SELECT comm, state, SUM(time) AS time FROM t.scheduler.time_in_state WHERE tid != 0 AND state != 'sleeping'
GROUP BY comm, state ORDER BY comm, state
