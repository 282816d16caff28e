-- Starts of Android programs: one row for each `launching: PACKAGE` that the system marks, as a slice of a thread or across threads.
-- formats: *
-- column _ts: when the system begins to start it
-- column _duration: until its first frame, NULL if that is not seen
-- column package: the program
-- column pid: the process that marks it, which is the system's
SELECT _ts, _duration, REGEXP_EXTRACT(name, '^launching: (.*)$', 1) AS package, pid FROM async_slices WHERE name LIKE 'launching: %'
UNION ALL
SELECT _ts, _duration, REGEXP_EXTRACT(name, '^launching: (.*)$', 1), pid FROM slices WHERE name LIKE 'launching: %'
ORDER BY _ts, package
