-- The process of each thread, if known, for events that name threads by number alone; if several processes had a thread of that number, the one with the highest pid.
-- formats: *
SELECT tid, MAX(pid) AS pid FROM _built.threads WHERE pid IS NOT NULL GROUP BY tid
