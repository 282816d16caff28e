-- What Android programs do to start: slices of the framework that are marked then, outermost first.
-- formats: *
-- column _ts: when it begins
-- column _duration: how long it takes, NULL if nothing ends it
-- column step: `process` (from its fork), `bind` (its code is loaded), `create`, `start`, `resume`, `inflate` (views are made), `drawn` (the program says that it is ready), `load` (a library or code is opened)
-- column tid: the thread
-- column pid: the process
-- column process: its name
-- column depth: how many slices it is in
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
