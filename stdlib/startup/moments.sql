-- Instants that programs mark during startup: fully drawn (Android), navigation and paint (Chrome and other browsers).
-- formats: *
-- column _ts: time of the instant
-- column tid: the thread
-- column pid: the process
-- column name: name of the instant
-- column args: its arguments
SELECT _ts, tid, pid, name, args
FROM instants
WHERE name REGEXP '^(reportFullyDrawn.*|navigationStart|firstPaint|firstContentfulPaint|firstMeaningfulPaint|largestContentfulPaint::Candidate|domInteractive|domContentLoadedEventEnd|domComplete|loadEventEnd|fetchStart|responseEnd|InteractiveTime|Startup\..*)$'
ORDER BY _ts, tid, name
