-- Where a thread that is known by its number alone stands on a timeline: as in `_built.timeline_owners`, but without lists, which are slow to sort. The name of its process (NULL if it is not known), its own name, and whether it is the main thread.
-- formats: *
SELECT tid, CASE WHEN path[1] = 'Processes' THEN path[2] END AS process, path[LEN(path)] AS thread, COALESCE(ranks[3] = 0, FALSE) AS main
FROM _built.timeline_owners WHERE host IS NULL AND pid IS NULL
