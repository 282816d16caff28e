-- Allocations in the kernel: one row for each, with the next release of the same address. An allocation that is not released in the trace has no duration; releases of earlier allocations are left out.
-- formats: *
-- column _ts: time of the allocation
-- column _duration: time until it was released, NULL if that is not recorded
-- column kind: `slab` for `kmalloc` and caches, `page` for whole pages
-- column tid: the thread
-- column comm: its name, or NULL
-- column call_site: address of the calling kernel code, or NULL
-- column bytes: bytes requested
-- column allocated: bytes allocated; for pages, assuming 4096 bytes each
-- column address: its address; for pages the page frame number
WITH steps AS (
  SELECT _ts, line, TRUE AS taken, 'slab' AS kind, common_pid AS tid, common_comm AS comm, call_site, bytes_req AS bytes,
    bytes_alloc AS allocated, ptr AS address
  FROM _events.kmalloc
  UNION ALL
  SELECT _ts, line, TRUE, 'slab', common_pid, common_comm, call_site, bytes_req, bytes_alloc, ptr FROM _events.kmem_cache_alloc
  UNION ALL
  SELECT _ts, line, FALSE, 'slab', NULL, NULL, NULL, NULL, NULL, ptr FROM _events.kfree
  UNION ALL
  SELECT _ts, line, FALSE, 'slab', NULL, NULL, NULL, NULL, NULL, ptr FROM _events.kmem_cache_free
  UNION ALL
  SELECT _ts, line, TRUE, 'page', common_pid, common_comm, NULL, (4096 << `order`) IN B, (4096 << `order`) IN B, COALESCE(pfn, page)
  FROM _events.mm_page_alloc
  UNION ALL
  SELECT _ts, line, FALSE, 'page', NULL, NULL, NULL, NULL, NULL, COALESCE(pfn, page) FROM _events.mm_page_free
),
followed AS (
  SELECT *, LEAD(_ts) OVER w AS end_ts, LEAD(taken) OVER w AS next_taken
  FROM steps WINDOW w AS (PARTITION BY kind, address ORDER BY _ts, line, taken)
)
SELECT _ts, CASE WHEN NOT next_taken THEN end_ts - _ts END AS _duration, kind, tid, comm, call_site, bytes, allocated, address
FROM followed WHERE taken
ORDER BY _ts, line, kind, address
