-- Calls with their entries and exits, including those of which one end is missing.
-- formats: uftrace
SELECT EVENT id AS line, id AS call, parent AS caller, dur, tid, pid, depth, name, module, args, retval, state FROM _events.call
