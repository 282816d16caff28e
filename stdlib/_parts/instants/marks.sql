-- `I` and `N` marks.
-- formats: *
SELECT _ts, line, COALESCE(-2147483649 - IF(common_pid = 0, cpu, NULL), -1 - common_pid) AS track, name, NULL::STRING AS category FROM _events.`print|I`
UNION ALL
SELECT _ts, line, COALESCE(-2147483649 - IF(common_pid = 0, cpu, NULL), -1 - common_pid), name, track FROM _events.`print|N`
