-- Starts of Android programs, as slices of a thread or across threads: one row for each `launching: PACKAGE` that the system marks, and since Android 13 for each `launchingActivity#N` that it marks as completed, whatever the process.
-- formats: *
-- column _ts: when the system begins to start it
-- column _duration: until its first frame, NULL if that is not seen
-- column package: the program
-- column kind: `cold`, `warm` or `hot`, if the system tells
-- column pid: the process that marks it, which is the system's
WITH told AS (
  SELECT _ts, _duration, name, pid FROM async_slices WHERE name LIKE 'launching%'
  UNION ALL SELECT _ts, _duration, name, pid FROM slices WHERE name LIKE 'launching%'
  UNION ALL SELECT _ts, 0ns, name, pid FROM instants WHERE name LIKE 'launchingActivity#%'
),
completed AS (
  SELECT DISTINCT REGEXP_EXTRACT(name, '^(launchingActivity#[0-9]+):', 1) AS launch, REGEXP_EXTRACT(name, ':completed[^:]*:(.*)$', 1) AS package,
    NULLIF(REGEXP_EXTRACT(name, ':completed-(hot|warm|cold):', 1), '') AS kind
  FROM told WHERE name REGEXP '^launchingActivity#[0-9]+:completed' AND NOT name LIKE '%:completed-same-process:%'
)
SELECT _ts, _duration, REGEXP_EXTRACT(name, '^launching: (.*)$', 1) AS package, NULL::STRING AS kind, pid FROM told WHERE name LIKE 'launching: %'
UNION ALL
SELECT t._ts, t._duration, c.package, c.kind, t.pid FROM told AS t JOIN completed AS c ON c.launch = t.name
ORDER BY _ts, package
