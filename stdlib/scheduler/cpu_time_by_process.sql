-- CPU time of the threads of each process in the whole trace. See `threads`.
-- formats: *
-- column pid: the process, NULL for all threads whose process is unknown
-- column threads: number of its threads that ran
-- column running: total time that they ran
-- column runnable: total time that they waited for a CPU
-- column preemptions: number of preemptions
-- column migrations: number of migrations to another CPU
SELECT t.pid, COUNT(*) FILTER (WHERE running > 0ns) AS threads, SUM(running) AS running, SUM(runnable) AS runnable,
  SUM(preemptions) AS preemptions, SUM(migrations) AS migrations
FROM scheduler.thread_summary AS s
LEFT JOIN _built.thread_processes AS t ON t.tid = s.tid
GROUP BY t.pid
ORDER BY running DESC, pid
