-- How many threads could run, and how many did, over time: one span from each change to the next.
-- formats: *
-- column runnable: how many waited for a CPU
-- column running: how many ran
SELECT SPAN COUNT(*) FILTER (WHERE state = 'runnable') AS runnable, COUNT(*) FILTER (WHERE state = 'running') AS running
FROM (SELECT SPAN state FROM scheduler.thread_states_p_tid) GROUP USING PARTITION
