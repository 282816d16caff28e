-- What each thread did, nested: slices from their begins and ends, and those whose length was traced. Slices of one thread that overlap are on lanes of their own.
-- formats: *
-- column _ts: when it begins
SELECT * FROM _parts.slice_begins
