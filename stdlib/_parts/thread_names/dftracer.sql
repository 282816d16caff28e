-- Names that the writer recorded.
-- formats: dftracer
SELECT tid, pid, value AS name, hostname AS host FROM _tables.metadata WHERE name IN ('thread_name', 'TN')
