-- Calls on the tracks of their threads; the category is the module.
-- formats: uftrace
SELECT EVENT id AS line, dur, tid AS track, name, module AS category FROM _events.call
