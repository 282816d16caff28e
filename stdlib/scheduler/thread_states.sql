-- State of each thread: an alias of `scheduler.thread_states_p_tid`.
-- formats: *
-- columns of: scheduler.thread_states_p_tid
SELECT SPAN * FROM scheduler.thread_states_p_tid
