-- `E` marks of programs.
-- formats: ftrace-text
SELECT EVENT line, common_pid AS track FROM _events.`print|E`
