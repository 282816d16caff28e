-- `E` marks of programs.
-- formats: *
SELECT EVENT line, -1 - common_pid AS track FROM _events.`print|E`
