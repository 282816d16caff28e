-- Time that threads spend in direct reclaim before they can allocate memory: one span from each begin to its end, which is the thread's next such event. A begin followed by another begin has lost its end and is left out, and so is one that does not end.
-- formats: *
-- column tid: the thread
-- column comm: its name, or NULL
-- column order: order of the allocation: the power of two of its number of pages
-- column reclaimed: number of reclaimed pages
WITH steps AS (
  SELECT _ts, line, TRUE AS entry, common_pid AS tid, common_comm AS comm, `order`, NULL::INT64 AS reclaimed
  FROM _events.mm_vmscan_direct_reclaim_begin
  UNION ALL
  SELECT _ts, line, FALSE, common_pid, NULL, NULL, nr_reclaimed FROM _events.mm_vmscan_direct_reclaim_end
),
followed AS (
  SELECT _ts, line, entry, tid, comm, `order`, LEAD(_ts) OVER w AS end_ts, LEAD(entry) OVER w AS next_entry,
    LEAD(reclaimed) OVER w AS reclaimed
  FROM steps WINDOW w AS (PARTITION BY tid ORDER BY _ts, line, entry DESC)
)
SELECT SPAN * FROM dctv.as_spans(
  (SELECT _ts, end_ts, tid, comm, `order`, reclaimed FROM followed WHERE entry AND NOT next_entry AND end_ts > _ts),
  end=>"end_ts",
  partition=>"tid",
)
