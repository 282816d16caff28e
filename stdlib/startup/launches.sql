-- Launches of Android apps, as slices of a thread or across threads: one row for each `launching: PACKAGE` that the system marks, and since Android 13 for each `launchingActivity#N` that it marks as completed, in whatever process.
-- formats: *
-- column _ts: time at which the system starts to launch it
-- column _duration: time until its first frame, NULL if that is not recorded
-- column package: the app's package
-- column kind: `cold`, `warm` or `hot`, or NULL
-- column pid: the process that records it, a system process
WITH marks AS (
  SELECT _ts, _duration, name, pid FROM async_slices WHERE name LIKE 'launching%'
  UNION ALL SELECT _ts, _duration, name, pid FROM slices WHERE name LIKE 'launching%'
  UNION ALL SELECT _ts, 0ns, name, pid FROM instants WHERE name LIKE 'launchingActivity#%'
),
completed AS (
  SELECT DISTINCT REGEXP_EXTRACT(name, '^(launchingActivity#[0-9]+):', 1) AS launch, REGEXP_EXTRACT(name, ':completed[^:]*:(.*)$', 1) AS package,
    NULLIF(REGEXP_EXTRACT(name, ':completed-(hot|warm|cold):', 1), '') AS kind
  FROM marks WHERE name REGEXP '^launchingActivity#[0-9]+:completed' AND NOT name LIKE '%:completed-same-process:%'
)
SELECT _ts, _duration, REGEXP_EXTRACT(name, '^launching: (.*)$', 1) AS package, NULL::STRING AS kind, pid FROM marks WHERE name LIKE 'launching: %'
UNION ALL
SELECT t._ts, t._duration, c.package, c.kind, t.pid FROM marks AS t JOIN completed AS c ON c.launch = t.name
ORDER BY _ts, package
