-- `B` marks of programs; threads get negative tracks, so that they do not clash with the trace's own tracks.
-- formats: *
SELECT EVENT line, -1 - common_pid AS track, name FROM _events.`print|B`
