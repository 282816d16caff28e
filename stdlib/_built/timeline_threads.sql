-- Where a timeline has what is of a thread of which only the number is told, as `_built.timeline_owners` says it, without lists, which take long to sort: the names of its process, NULL if it is not known, and of the thread, and whether it is the process's main thread.
-- formats: *
SELECT tid, CASE WHEN path[1] = 'Processes' THEN path[2] END AS process, path[LEN(path)] AS thread, COALESCE(ranks[3] = 0, FALSE) AS main
FROM _built.timeline_owners WHERE host IS NULL AND pid IS NULL
