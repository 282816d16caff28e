-- `E` marks of programs.
-- formats: *
SELECT EVENT line, COALESCE(-2147483649 - IF(common_pid = 0, cpu, NULL), -1 - common_pid) AS track FROM _events.`print|E`
