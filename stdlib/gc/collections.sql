-- Garbage collections and their steps, from slices of Android's runtime (`... GC`), V8 in Chrome and Node (`MajorGC`, `MinorGC`, `V8.GC...`), Blink (`BlinkGC...`, `CppGC...`) and Python (`gc`, `gc.collect`, `GC ...`). Slices inside other such slices are included; `outermost` tells them apart.
-- formats: *
-- column _ts: start time
-- column _duration: duration, NULL if it has no end
-- column tid: the thread
-- column pid: its process
-- column thread: the thread's name
-- column process: the process's name
-- column runtime: `art`, `v8`, `blink` or `other`
-- column kind: `major` (the whole heap), `minor` (the young generation), `wait` (a thread waits for a collection), or `step` (a part of a collection, or anything else)
-- column outermost: whether no other such slice of its thread encloses it
-- column name: the slice's name
-- column args: its arguments
-- column id: the slice's number, see `slices`
WITH RECURSIVE found AS (
  SELECT *,
    CASE
      WHEN name REGEXP '^(V8\.GC|MajorGC$|MinorGC$)' THEN 'v8'
      WHEN name REGEXP '^(BlinkGC|CppGC)' THEN 'blink'
      WHEN name REGEXP '(concurrent copying|mark sweep|mark compact|semispace|sticky|partial).* GC$|^GC: Wait For|^(Background|Explicit|Alloc|NativeAlloc|CollectorTransition|HomogeneousSpaceCompact|DisableMovingGc).* GC$' THEN 'art'
      WHEN name REGEXP '^(gc|GC|gc\.collect|gc_collect_main|collect_generations|[Pp]ython ?GC|GC .*|G1 .*|Garbage [Cc]ollection.*)$' THEN 'other'
    END AS runtime
  FROM slices
  WHERE name REGEXP 'GC|gc|G1 |Garbage'
),
collections AS (SELECT * FROM found WHERE runtime IS NOT NULL),
-- Slices of any kind that are inside collections.
inside AS (
  SELECT s.id FROM slices AS s JOIN collections AS c ON c.id = s.parent_id
  UNION
  SELECT s.id FROM inside AS i JOIN slices AS s ON s.parent_id = i.id
)
SELECT _ts, _duration, tid, pid, thread, process, runtime,
  CASE
    WHEN name REGEXP '^GC: Wait|WaitFor|Wait For' THEN 'wait'
    WHEN name REGEXP '^MinorGC$|^V8\.GC_?Scavenge|[Yy]oung|sticky|^V8\.GC_MINOR' THEN 'minor'
    WHEN name REGEXP '^MajorGC$|^V8\.GC_?(Finalize)?(MC|MarkCompact)|^V8\.GCCompactor|GC$' THEN 'major'
    ELSE 'step' END AS kind,
  i.id IS NULL AS outermost, name, args, c.id
FROM collections AS c LEFT JOIN inside AS i ON i.id = c.id
ORDER BY _ts, depth, tid
