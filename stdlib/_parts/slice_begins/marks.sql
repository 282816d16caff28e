-- `B` marks of programs; threads get negative tracks, so that they do not clash with the trace's own tracks. Each CPU has an idle thread of its own.
-- formats: *
SELECT EVENT line, COALESCE(-2147483649 - IF(common_pid = 0, cpu, NULL), -1 - common_pid) AS track, name FROM _events.`print|B`
