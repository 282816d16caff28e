-- Samples of perf, and collapsed stacks.
-- formats: perf-data, perf-script, collapsed-stacks
SELECT _ts, line, tid, pid, cpu, comm, `event`, period, stack FROM _events.sample
