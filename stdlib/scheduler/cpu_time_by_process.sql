-- How long the threads of each process ran in the whole trace. See `threads`.
-- formats: *
-- column pid: the process, NULL for all threads whose process is not known
-- column threads: how many of its threads ran
-- column running: how long they ran, all together
-- column runnable: how long they waited for a CPU
-- column preemptions: how often one of them had to leave a CPU
-- column migrations: how often one of them came to another CPU
SELECT t.pid, COUNT(*) FILTER (WHERE running > 0ns) AS threads, SUM(running) AS running, SUM(runnable) AS runnable,
  SUM(preemptions) AS preemptions, SUM(migrations) AS migrations
FROM scheduler.thread_summary AS s
LEFT JOIN _built.thread_processes AS t ON t.tid = s.tid
GROUP BY t.pid
ORDER BY running DESC, pid
