-- Names that trace-cmd saved; what events tell counts more.
-- formats: trace-dat
SELECT pid AS tid, comm AS name, -1 AS rank FROM _tables.cmdlines
