-- Returns of functions that a program was compiled to tell of.
-- formats: ctf
SELECT EVENT line, common_pid AS track FROM _events.func_exit
