-- How much memory of a kind each address space has in use: one span from an `rss_stat` event to the next one of the same address space and kind, the last one until the trace's end. Of several at one time the last counts. Address spaces are known by number; where the kernel gives none, events are of the process that runs.
-- formats: *
-- column mm: the address space: the kernel's number, or the process's id where it gives none
-- column kind: `file`, `anon`, `swap` or `shmem`, else as the kernel says
-- column pid: the process, if an event says that it is the one that runs
-- column size: how much
WITH sizes AS (
  SELECT _ts, line, COALESCE(mm_id, common_tgid, common_pid) AS mm,
    CASE
      WHEN member IN ('0', 'MM_FILEPAGES') THEN 'file' WHEN member IN ('1', 'MM_ANONPAGES') THEN 'anon'
      WHEN member IN ('2', 'MM_SWAPENTS') THEN 'swap' WHEN member IN ('3', 'MM_SHMEMPAGES') THEN 'shmem' ELSE member END AS kind,
    CASE WHEN curr = 1 OR mm_id IS NULL THEN COALESCE(common_tgid, common_pid) END AS own, size
  FROM _events.rss_stat
),
owners AS (SELECT mm, MAX(own) AS pid FROM sizes GROUP BY mm),
lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY mm, kind ORDER BY _ts, line), (SELECT _ts FROM last_ts)) AS end_ts, mm, kind, size
  FROM sizes
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, end_ts, lasting.mm, kind, pid, size FROM lasting JOIN owners ON owners.mm = lasting.mm WHERE end_ts > _ts),
  end=>"end_ts",
  partition=>["mm", "kind"],
)
