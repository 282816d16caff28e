-- Frames drawn by Android apps: one row for each `Choreographer#doFrame`, with the first `DrawFrame` of the process's render thread that begins before the next doFrame.
-- formats: *
-- column _ts: time at which the main thread starts on it
-- column _duration: time until it is drawn: the end of the DrawFrame, or of the doFrame if nothing is drawn; NULL if that is not recorded
-- column tid: the main thread
-- column pid: the process
-- column process: its name
-- column frame: its number, if the mark has one
-- column main_time: time that the main thread spent on it
-- column render_tid: the thread that drew it
-- column render_start: time at which that thread started
-- column render_time: time that it spent drawing
-- column id: the doFrame's number, see `slices`
WITH begun AS (
  SELECT _ts, _duration, id, tid, pid, process, TRY_CAST(REGEXP_EXTRACT(name, '^Choreographer#doFrame ([0-9]+)$', 1) AS INT64) AS frame,
    LEAD(_ts) OVER (PARTITION BY pid, tid ORDER BY _ts, id) AS next_ts
  FROM slices WHERE name REGEXP '^Choreographer#doFrame( [0-9]+)?$'
),
drawn AS (SELECT _ts, _duration, id, tid, pid FROM slices WHERE name REGEXP '^DrawFrames?( [0-9]+)?$'),
-- Ids of slices are in order of time.
first AS (
  SELECT b.id, MIN(d.id) AS drawn_id
  FROM begun AS b JOIN drawn AS d ON d.pid = b.pid AND d._ts >= b._ts AND (b.next_ts IS NULL OR d._ts < b.next_ts)
  GROUP BY b.id
)
SELECT b._ts,
  CASE
    WHEN d.id IS NULL THEN b._duration
    -- GREATEST passes over NULL, but a drawing without an end has none.
    WHEN d._duration IS NOT NULL THEN GREATEST(d._ts + d._duration, b._ts + b._duration) - b._ts END AS _duration,
  b.tid, b.pid, b.process, b.frame, b._duration AS main_time, d.tid AS render_tid, d._ts AS render_start,
  d._duration AS render_time, b.id
FROM begun AS b LEFT JOIN first AS f ON f.id = b.id LEFT JOIN drawn AS d ON d.id = f.drawn_id
ORDER BY b._ts, b.pid, b.tid
