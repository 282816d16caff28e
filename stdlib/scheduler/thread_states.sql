-- What each thread does: another name of `scheduler.thread_states_p_tid`.
-- formats: ftrace-text, ftrace-graph, trace-dat, perfetto, perf-data, perf-script, ctf
-- columns of: scheduler.thread_states_p_tid
SELECT SPAN * FROM scheduler.thread_states_p_tid
