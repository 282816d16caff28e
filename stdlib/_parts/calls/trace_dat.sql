-- Kernel functions that the function graph tracer recorded, one row when each returns.
-- formats: trace-dat
SELECT _ts - (rettime - calltime) AS _ts, rettime - calltime AS dur, common_pid AS tid, depth, func AS name,
  'kernel' AS module
FROM _events.funcgraph_exit
