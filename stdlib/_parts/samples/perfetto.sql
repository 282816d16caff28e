-- CPU stack samples.
-- formats: perfetto
SELECT EVENT line, tid, pid, cpu, `event`, CAST(period AS INT64) AS period, stack FROM _events.sample
