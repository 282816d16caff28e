-- Moments that programs mark when they start: that all is drawn (Android), navigation and paint (Chrome and other browsers).
-- formats: *
-- column _ts: when
-- column tid: the thread
-- column pid: the process
-- column name: what happened
-- column args: its arguments
SELECT _ts, tid, pid, name, args
FROM instants
WHERE name REGEXP '^(reportFullyDrawn.*|navigationStart|firstPaint|firstContentfulPaint|firstMeaningfulPaint|largestContentfulPaint::Candidate|domInteractive|domContentLoadedEventEnd|domComplete|loadEventEnd|fetchStart|responseEnd|InteractiveTime|Startup\..*)$'
ORDER BY _ts, tid, name
