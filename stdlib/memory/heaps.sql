-- How much memory is allocated in heaps that devices share: ION and DMA buffers, and what GPUs use in all and by process. One span from an event to the next one of the heap, the last one until the last event of the kernel.
-- formats: *
-- column heap: `ion`, the name of an ION heap, `dma_heap` or `gpu N`
-- column pid: the process for which a GPU counts, 0 for all; NULL for other heaps
-- column size: how much
WITH sizes AS (
  SELECT _ts, line, 'ion' AS heap, NULL::INT64 AS pid, total_allocated AS size FROM _events.ion_stat
  UNION ALL SELECT _ts, line, heap_name, NULL, total_allocated FROM _events.ion_heap_grow
  UNION ALL SELECT _ts, line, heap_name, NULL, total_allocated FROM _events.ion_heap_shrink
  UNION ALL SELECT _ts, line, 'dma_heap', NULL, total_allocated FROM _events.dma_heap_stat
  UNION ALL SELECT _ts, line, 'gpu ' || gpu_id::STRING, pid, size FROM _events.gpu_mem_total
),
lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER (PARTITION BY heap, pid ORDER BY _ts, line), (SELECT _ts FROM _built.kernel_end)) AS end_ts, heap, pid, size
  FROM sizes
)
SELECT SPAN * FROM dctv.as_spans((SELECT * FROM lasting WHERE end_ts > _ts), end=>"end_ts", partition=>["heap", "pid"])
