-- CPU time of the threads of each process in equal periods. Periods begin at multiples of `period`; those in which none of them ran have no row. Threads belong to processes as in `threads`; those without a known process share the rows without a process.
-- formats: *
-- parameter period positive ns = 100ms: length of each period
-- column _ts: start of the period
-- column pid: the process, NULL for threads whose process is unknown
-- column threads: number of threads that ran
-- column running: total time for which they ran
-- column utilisation: running time as a share of the period, 1 for a whole CPU
SELECT used._ts, t.pid, COUNT(*) AS threads, SUM(used.running) AS running, SUM(used.running) / (:period IN ns) AS utilisation
FROM scheduler.thread_utilisation_by(:period) AS used
LEFT JOIN _built.thread_processes AS t ON t.tid = used.tid
GROUP BY used._ts, t.pid
ORDER BY _ts, running DESC, pid
