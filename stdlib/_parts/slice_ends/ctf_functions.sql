-- Returns of instrumented functions (`-finstrument-functions`).
-- formats: ctf
SELECT EVENT line, common_pid AS track FROM _events.func_exit
