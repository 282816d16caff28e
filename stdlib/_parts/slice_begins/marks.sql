-- `B` marks of programs.
-- formats: ftrace-text
SELECT EVENT line, common_pid AS track, name FROM _events.`print|B`
