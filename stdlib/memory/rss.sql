-- How much memory of a kind each address space has in use: one span from an `rss_stat` event to the next one of the same address space and kind, the last one until the kernel's last event. Of several at one time the last counts. See `memory.rss_changes`.
-- formats: *
-- column mm: the address space: the kernel's number, or the process's where it gives none
-- column kind: `file`, `anon`, `swap`, `shmem` or `unreclaimable`, else as the kernel says
-- column pid: the process that has it, NULL if no event before tells
-- column size: how much
WITH lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY mm, kind ORDER BY _ts, line), (SELECT _ts FROM _built.kernel_end)) AS end_ts, mm, kind,
    pid, size
  FROM _built.rss
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, end_ts, mm, kind, pid, size FROM lasting WHERE end_ts > _ts),
  end=>"end_ts",
  partition=>["mm", "kind"],
)
