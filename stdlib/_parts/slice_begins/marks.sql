-- `B` marks of programs; threads have negative tracks, so that they meet no tracks of the trace's own.
-- formats: *
SELECT EVENT line, -1 - common_pid AS track, name FROM _events.`print|B`
