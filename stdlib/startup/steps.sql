-- Startup steps of Android apps: slices that the framework marks then, outermost first.
-- formats: *
-- column _ts: start time
-- column _duration: duration, NULL if it has no end
-- column step: `process` (from its fork), `bind` (its code is loaded), `create`, `start`, `resume`, `inflate` (views are created), `drawn` (the app reports that it is fully drawn), `load` (a library or code is opened)
-- column tid: the thread
-- column pid: the process
-- column process: its name
-- column depth: number of enclosing slices
-- column name: the slice's name
SELECT _ts, _duration,
  CASE
    WHEN name REGEXP '^(Start proc|PostFork|ActivityThreadMain|ZygoteInit)' THEN 'process'
    WHEN name REGEXP '^bindApplication' THEN 'bind'
    WHEN name REGEXP '^(performCreate|activityCreate)' THEN 'create'
    WHEN name REGEXP '^activityStart' THEN 'start'
    WHEN name REGEXP '^activityResume' THEN 'resume'
    WHEN name = 'inflate' THEN 'inflate'
    WHEN name REGEXP '^reportFullyDrawn' THEN 'drawn'
    ELSE 'load' END AS step,
  tid, pid, process, depth, name
FROM slices
WHERE name REGEXP '^(Start proc|PostFork|ActivityThreadMain|ZygoteInit|bindApplication|performCreate:|activityCreate|activityStart|activityResume|inflate$|reportFullyDrawn|OpenDexFilesFromOat|dlopen:|ResourcesManager#getResources|makeApplication)'
ORDER BY _ts, depth, tid
