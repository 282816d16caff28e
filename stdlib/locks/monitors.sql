-- Waits for monitors of Android's runtime (Java and Kotlin `synchronized`): slices named `monitor contention with owner ...` and `Lock contention on ...`.
-- formats: *
-- column _ts: start of the wait
-- column _duration: duration, NULL if it has no end
-- column tid: the waiting thread
-- column pid: its process
-- column thread: its name
-- column owner_tid: the thread that holds the lock
-- column owner: its name, if the mark has it
-- column waiters: number of threads that already wait, if the mark has it
-- column blocking: the owner's code location, if the mark has it
-- column blocked: the waiting code location, if the mark has it
-- column name: the whole mark
SELECT _ts, _duration, tid, pid, thread,
  TRY_CAST(COALESCE(NULLIF(REGEXP_EXTRACT(name, 'owner tid: ([0-9]+)', 1), ''),
    NULLIF(REGEXP_EXTRACT(name, '^monitor contention with owner .*?\(([0-9]+)\) at ', 1), '')) AS INT64) AS owner_tid,
  NULLIF(REGEXP_EXTRACT(name, '^monitor contention with owner (.*?) \([0-9]+\) at ', 1), '') AS owner,
  TRY_CAST(NULLIF(REGEXP_EXTRACT(name, ' waiters=([0-9]+)', 1), '') AS INT64) AS waiters,
  NULLIF(REGEXP_EXTRACT(name, '\([0-9]+\) at (.*?) waiters=', 1), '') AS blocking,
  NULLIF(REGEXP_EXTRACT(name, ' blocking from (.*)$', 1), '') AS blocked,
  name
FROM slices
WHERE name LIKE 'monitor contention with owner %' OR name LIKE 'Lock contention on %'
ORDER BY _ts, tid
