-- `rss_stat` events, each with the process that owns the memory. See `memory.rss_changes`.
-- formats: *
WITH events AS (
  SELECT r._ts, r.line, r.mm_id, COALESCE(CASE WHEN r.common_tgid > 0 THEN r.common_tgid END, o.pid) AS pid, r.common_pid AS tid,
    r.mm_id IS NULL OR COALESCE(r.curr, 1) = 1 AS own, r.size,
    CASE
      WHEN member IN ('0', 'MM_FILEPAGES') THEN 'file' WHEN member IN ('1', 'MM_ANONPAGES') THEN 'anon'
      WHEN member IN ('2', 'MM_SWAPENTS') THEN 'swap' WHEN member IN ('3', 'MM_SHMEMPAGES') THEN 'shmem'
      WHEN member = '4' THEN 'unreclaimable' ELSE member END AS kind
  FROM _events.rss_stat AS r LEFT JOIN _built.thread_processes AS o ON o.tid = r.common_pid
),
owned AS (
  SELECT *,
    CASE WHEN own THEN pid ELSE LAST_VALUE(CASE WHEN own THEN COALESCE(pid, -1) END) IGNORE NULLS OVER w END AS owner,
    CASE WHEN NOT own THEN LAST_VALUE(CASE WHEN own THEN _ts END) IGNORE NULLS OVER w END AS owned_ts
  FROM events WINDOW w AS (PARTITION BY mm_id ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)
),
freed AS (SELECT _ts, pid FROM _events.sched_process_free ORDER BY _ts),
alive AS (
  SELECT o._ts, o.line, o.mm_id, o.kind, o.tid, o.size,
    CASE WHEN o.owner > 0 AND (f._ts IS NULL OR o.owned_ts IS NULL OR f._ts < o.owned_ts) THEN o.owner END AS pid
  FROM owned AS o ASOF LEFT JOIN freed AS f ON f.pid = o.owner AND o._ts >= f._ts
)
SELECT _ts, line, COALESCE(mm_id, pid, tid) AS mm, kind, pid, tid, size FROM alive
