-- Number of runnable and of running threads over time: one span from each change of a thread's state to the next, so neighbours may have equal numbers.
-- formats: *
-- column runnable: number of threads waiting for a CPU
-- column running: number of running threads
SELECT SPAN COUNT(*) FILTER (WHERE state = 'runnable') AS runnable, COUNT(*) FILTER (WHERE state = 'running') AS running
FROM (SELECT SPAN state FROM scheduler.thread_states_p_tid) GROUP USING PARTITION
