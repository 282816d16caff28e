-- Functions that a program was compiled to tell of: their names are addresses.
-- formats: ctf
SELECT EVENT line, common_pid AS track, addr AS name FROM _events.func_entry
