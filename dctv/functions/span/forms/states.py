"""Switches and wakeups -> states of threads, and those -> the critical path of one thread, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, values
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema

OWN = 7
"""How many columns of its input are read: kind, cpu, target_cpu, tid, other_tid, code, line."""
MADE = 15
"""How many columns stand before those that are handed on."""

_STATES = """
WITH switches AS (
  SELECT *, LEAD(row) OVER (PARTITION BY a1 ORDER BY row) AS until FROM rows WHERE a0 = 0
),
sides AS (
  SELECT row, 1 AS step, a3 AS tid, 5 AS state, 0 AS side, a1 AS cpu, until FROM switches WHERE a3 <> 0
  UNION ALL
  SELECT row, 0, a4, COALESCE(a5, 4), 1, a1, NULL FROM switches WHERE a4 <> 0
),
followed AS (SELECT *, LEAD(row) OVER (PARTITION BY tid ORDER BY row, step) AS next_row FROM sides),
before AS (
  SELECT *, LAST_VALUE(CASE WHEN a0 = 0 THEN row END IGNORE NULLS) OVER (PARTITION BY a1 ORDER BY row) AS last FROM rows
),
wakeups AS (
  SELECT w.row, w.a3 AS tid, w.a2 AS cpu, w.a5 AS context, COALESCE(w.a4, s.a3) AS waker
  FROM before AS w LEFT JOIN rows AS s ON s.row = w.last
  WHERE w.a0 = 1 AND w.a3 <> 0
),
changes AS (
  SELECT row, step, tid, state, side, cpu, row AS shown, NULL AS waker, NULL AS context, FALSE AS woken FROM followed
  UNION ALL
  SELECT until, 0, tid, 4, side, cpu, row, NULL, NULL, FALSE
  FROM followed WHERE until IS NOT NULL AND (next_row IS NULL OR until < next_row)
  UNION ALL
  SELECT row, 0, tid, 0, 0, cpu, row, waker, context, TRUE FROM wakeups
),
judged AS (SELECT *, LAG(state) OVER (PARTITION BY tid ORDER BY row, step) AS before FROM changes),
kept AS (
  SELECT c.*, r.ts, r.a6 AS line
  FROM judged AS c JOIN rows AS r ON r.row = c.row
  WHERE NOT c.woken OR c.before IS NULL OR c.before NOT IN (0, 5)
)
SELECT ts, LEAD(ts) OVER w AS m1, tid, state::TINYINT AS m3, cpu, line, woken, waker, context::TINYINT AS m8,
  side::TINYINT AS m9, LEAD(state) OVER w::TINYINT AS m10, LEAD(cpu) OVER w AS m11, LEAD(line) OVER w AS m12,
  LEAD(waker) OVER w AS m13, LEAD(context) OVER w::TINYINT AS m14, shown
FROM kept WINDOW w AS (PARTITION BY tid ORDER BY row, step)
"""
_MADE = ("ts", "m1", "tid", "m3", "cpu", "line", "woken", "waker", "m8", "m9", "m10", "m11", "m12", "m13", "m14")

_PATH = """
WITH RECURSIVE known AS (
  SELECT ts, COALESCE(a0, 9223372036854775807) AS until, a1 AS tid, COALESCE(a2, 4) AS state, a3 AS cpu,
    COALESCE(a4, 0) AS line, a5 AS waker, a6 AS context
  FROM rows WHERE a1 IS NOT NULL AND COALESCE(a0, 9223372036854775807) > ts
),
stretches AS (
  SELECT 0::BIGINT AS depth, $tid::BIGINT AS tid, $start::BIGINT AS lo, $end::BIGINT AS hi,
    9223372036854775807 AS limit_ts, 9223372036854775807 AS limit_line
  WHERE $start < $end
  UNION ALL
  SELECT g.depth + 1, k.waker, GREATEST(k.ts, g.lo), LEAST(k.until, g.hi), k.until, k.line
  FROM stretches AS g JOIN known AS k ON k.tid = g.tid AND k.ts < g.hi AND k.until > g.lo
  WHERE k.state IN (1, 2) AND k.until < 9223372036854775807 AND k.context IS DISTINCT FROM 1
    AND k.waker <> 0 AND (k.until < g.limit_ts OR k.until = g.limit_ts AND k.line < g.limit_line)
),
met AS (
  SELECT g.*, GREATEST(k.ts, g.lo) AS ts, LEAST(k.until, g.hi) AS until, k.state, k.cpu,
    CASE
      WHEN k.state NOT IN (1, 2) THEN 0
      WHEN k.until = 9223372036854775807 THEN 3
      WHEN k.context = 1 OR k.waker = 0 THEN 1
      WHEN k.waker IS NULL THEN 2
      WHEN k.until > g.limit_ts OR k.until = g.limit_ts AND k.line >= g.limit_line THEN 4
      ELSE 9
    END AS reason
  FROM stretches AS g JOIN known AS k ON k.tid = g.tid AND k.ts < g.hi AND k.until > g.lo
),
edges AS (
  SELECT depth, tid, lo, hi, ts, until FROM met
  UNION ALL SELECT depth, tid, lo, hi, lo, lo FROM stretches
  UNION ALL SELECT depth, tid, lo, hi, hi, hi FROM stretches
),
gaps AS (
  SELECT depth, tid, until AS ts, LEAD(ts) OVER (PARTITION BY depth, tid, lo, hi ORDER BY ts, until) AS until FROM edges
),
pieces AS (
  SELECT ts, until, tid, state, cpu, depth, reason FROM met WHERE reason <> 9
  UNION ALL
  SELECT ts, until, tid, 4, NULL, depth, 5 FROM gaps WHERE until > ts
)
SELECT ts, until - ts AS m1, tid, state::TINYINT AS m3, cpu, depth, reason::TINYINT AS m6 FROM pieces
"""
_PIECE = ("ts", "m1", "tid", "m3", "cpu", "depth", "m6")


def states(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    """Return each state of each thread with what ended it."""
    (source,) = inputs
    found = sqlglot.parse_one(_STATES, dialect="duckdb")
    assert isinstance(found, exp.Select)
    payload = values(source, 1, "a")[OWN:]
    items = [*w.columns(_MADE, "s"), *w.columns(payload, "r")]
    query = w.select(*w.named(items, options["names"]), source=found, alias="s")
    query = w.join(query, "rows", "r", [w.equal(column("row", "r"), column("shown", "s"))])
    return w.with_steps(query, [("rows", events(source, 0, "event", "a"))])


def critical_path(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    """Return the pieces of time of one thread, by who was responsible for each."""
    (source,) = inputs
    found = sqlglot.parse_one(_PATH, dialect="duckdb")
    given = {name: exp.Literal.number(str(options[name])) for name in ("tid", "start", "end")}
    found = found.transform(lambda n: given[n.name].copy() if isinstance(n, exp.Parameter | exp.Placeholder) else n)
    assert isinstance(found, exp.Select)
    query = w.select(*w.named(w.columns(_PIECE, "p"), options["names"]), source=found, alias="p")
    query = query.order_by(exp.Ordered(this=column("ts", "p"), nulls_first=False), copy=False)
    return w.with_steps(query, [("rows", events(source, 0, "state", "a"))])
