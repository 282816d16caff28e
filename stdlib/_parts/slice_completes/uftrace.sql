-- Calls on the tracks of their threads; the category is the module. Arguments have the names of uftrace's own JSON.
-- formats: uftrace
SELECT EVENT id AS line, dur, tid AS track, name, module AS category,
  CASE
    WHEN retval IS NOT NULL AND args IS NOT NULL THEN JSON_OBJECT('arguments', args, 'retval', retval)
    WHEN retval IS NOT NULL THEN JSON_OBJECT('retval', retval)
    WHEN args IS NOT NULL THEN JSON_OBJECT('arguments', args)
  END AS args
FROM _events.call
