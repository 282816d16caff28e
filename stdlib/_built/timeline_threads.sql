-- The place on a timeline of threads known only by number: as in `_built.timeline_owners`, but without lists, which are slow to sort. The name of its process (NULL if unknown), its own name, and whether it is the main thread.
-- formats: *
SELECT tid, CASE WHEN path[1] = 'Processes' THEN path[2] END AS process, path[LEN(path)] AS thread, COALESCE(ranks[3] = 0, FALSE) AS main
FROM _built.timeline_owners WHERE host IS NULL AND pid IS NULL
