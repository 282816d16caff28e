-- Functions that a program was compiled to tell of; they are called by their address.
-- formats: ctf
SELECT EVENT line, common_pid AS track, '0x' || LOWER(HEX(addr)) AS name FROM _events.func_entry
