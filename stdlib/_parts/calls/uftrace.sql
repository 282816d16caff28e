-- Calls with their entries and exits, whatever is missing of them.
-- formats: uftrace
SELECT EVENT id AS line, id AS call, parent AS caller, dur, tid, pid, depth, name, module, args, retval, state FROM _events.call
