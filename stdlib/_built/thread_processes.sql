-- The process of each thread of the kernel whose process is known; of several that had its number the greatest.
-- formats: *
SELECT tid, MAX(pid) AS pid FROM _built.threads WHERE pid IS NOT NULL GROUP BY tid
