-- How much the threads of each process ran, by equal periods. They begin at 0; periods in which none of them ran have no row. `threads` tells which threads are a process: what is not known to belong to one is in the rows without a process.
-- formats: *
-- parameter period ns = 100ms: how long each period is
-- column _ts: when the period begins
-- column pid: the process, NULL for threads whose process is not known
-- column threads: how many threads ran
-- column running: how long they ran, all together
-- column utilisation: that as a share of the period, 1 for a whole CPU
SELECT used._ts, t.pid, COUNT(*) AS threads, SUM(used.running) AS running, SUM(utilisation) AS utilisation
FROM scheduler.thread_utilisation_by(:period) AS used
LEFT JOIN _built.thread_processes AS t ON t.tid = used.tid
GROUP BY used._ts, t.pid
ORDER BY _ts, running DESC, pid
