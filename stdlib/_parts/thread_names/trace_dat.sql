-- Names that trace-cmd saved; names from events take precedence.
-- formats: trace-dat
SELECT pid AS tid, comm AS name, -1 AS rank FROM _tables.cmdlines
