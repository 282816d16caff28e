-- Samples of perf, and stacks that were collapsed.
-- formats: perf-data, perf-script, collapsed-stacks
SELECT _ts, line, tid, pid, cpu, comm, `event`, period, stack FROM _events.sample
