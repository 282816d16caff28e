-- Functions of a program compiled with instrumentation (`-finstrument-functions`); their names are addresses.
-- formats: ctf
SELECT EVENT line, common_pid AS track, '0x' || LOWER(HEX(addr)) AS name FROM _events.func_entry
