-- Memory allocated in heaps that devices share: ION and DMA buffers, and GPU memory, in total and by process. One span from each event of a heap to its next; the last one ends with the last kernel event, or when the process is gone. GPU events about a process that is gone are left out.
-- formats: *
-- column heap: `ion`, the name of an ION heap, `dma_heap` or `gpu N`
-- column pid: the process, 0 for the total of a GPU; NULL for other heaps
-- column size: bytes allocated
WITH gpu AS (
  SELECT _ts, line, 'gpu ' || COALESCE(gpu_id, 0)::STRING AS heap, COALESCE(pid, 0) AS pid, size FROM _events.gpu_mem_total
  UNION ALL SELECT _ts, line, 'gpu ' || COALESCE(gpu_id, 0)::STRING, COALESCE(pid, 0), size FROM _events.gpu_mem_total_event
),
used AS (SELECT heap, pid FROM gpu WHERE pid <> 0 GROUP BY heap, pid),
sizes AS (
  SELECT _ts, line, 'ion' AS heap, NULL::INT64 AS pid, total_allocated AS size, 'size' AS what FROM _events.ion_stat
  UNION ALL SELECT _ts, line, heap_name, NULL, total_allocated, 'size' FROM _events.ion_heap_grow
  UNION ALL SELECT _ts, line, heap_name, NULL, total_allocated, 'size' FROM _events.ion_heap_shrink
  UNION ALL SELECT _ts, line, 'dma_heap', NULL, total_allocated, 'size' FROM _events.dma_heap_stat
  UNION ALL SELECT _ts, line, heap, pid, size, 'size' FROM gpu
  UNION ALL SELECT e._ts, e.line, u.heap, u.pid, NULL, 'gone' FROM _events.sched_process_free AS e JOIN used AS u ON u.pid = e.pid
  UNION ALL SELECT e._ts, e.line, u.heap, u.pid, NULL, 'new' FROM _events.task_newtask AS e JOIN used AS u ON u.pid = e.pid
),
lasting AS (
  SELECT _ts, COALESCE(LEAD(_ts) OVER w, (SELECT _ts FROM _built.kernel_end)) AS end_ts, heap, pid, size,
    COALESCE(LAST_VALUE(CASE WHEN what != 'size' THEN what END) IGNORE NULLS OVER w = 'gone', FALSE) AS gone
  FROM sizes WINDOW w AS (PARTITION BY heap, pid ORDER BY _ts, line ROWS UNBOUNDED PRECEDING)
)
SELECT SPAN * FROM dctv.as_spans((SELECT _ts, end_ts, heap, pid, size FROM lasting WHERE end_ts > _ts AND size IS NOT NULL AND NOT gone),
  end=>"end_ts", partition=>["heap", "pid"])
