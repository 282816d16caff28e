-- Functions of the kernel that the tracer of function graphs recorded, as they return.
-- formats: trace-dat
SELECT _ts - (rettime - calltime) AS _ts, rettime - calltime AS dur, common_pid AS tid, depth, func AS name,
  'kernel' AS module
FROM _events.funcgraph_exit
