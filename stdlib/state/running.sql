-- Changes of which thread each CPU runs.
-- formats: *
-- column _ts: when another thread began to run
-- column path: the attribute that changed
-- column thread: the thread
SELECT _ts, 'CPUs/' || CAST(cpu AS STRING) || '/Current_thread' AS path, pid AS thread FROM scheduler.timeslices_p_cpu
