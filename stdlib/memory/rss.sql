-- Memory of each kind that each address space uses: one span from each `rss_stat` event to the next of the same address space and kind, and from the last one to the last kernel event. Of several at one time the last counts. See `memory.rss_changes`.
-- formats: *
-- column mm: the address space: the kernel's number for it, or that of the process if the kernel gives none
-- column kind: `file`, `anon`, `swap`, `shmem` or `unreclaimable`, otherwise as recorded
-- column pid: its process, NULL if no earlier event shows it
-- column size: bytes in use
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
