"""Questions of rows that name their parents, as queries of the engine: who is above and below, own time, stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp, parse_one

from dctv.contracts.span_operator import Input
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema


def _asked(text: str, source: Input, own: Sequence[str], names: Sequence[str]) -> exp.Query:
    """Parse a query of `rows`, which are the input's with these names and `row`; the result's columns get others."""
    renamed = [w.aliased(column(old), new) for old, new in zip(source.columns, own, strict=True)]
    rows = w.select(*renamed, w.aliased(w.over(w.call("row_number")), "row"), source=source.table)
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Select)
    with_ = query.args.get("with_")
    step = exp.CTE(this=rows, alias=exp.TableAlias(this=w.identifier("rows")), materialized=True)
    if with_ is None:
        query.set("with_", exp.With(expressions=[step]))
    else:
        with_.set("expressions", [step, *with_.expressions])
    columns = [w.aliased(one.unalias(), new) for one, new in zip(query.expressions, names, strict=True)]
    query.set("expressions", columns)
    return query


_ABOVE = """
WITH RECURSIVE first AS (SELECT id, arg_min(parent_id, row) AS parent_id FROM rows GROUP BY id),
run AS (
  SELECT id, parent_id, CAST(0 AS BIGINT) AS distance FROM first WHERE id = 0
  UNION ALL
  SELECT first.id, first.parent_id, run.distance + 1 FROM run JOIN first ON first.id = run.parent_id
  WHERE run.distance < (SELECT count(*) FROM rows) AND first.id <> 0
)
SELECT id, min(distance) FROM run WHERE distance > 0 GROUP BY id
"""
_BELOW = """
WITH RECURSIVE run AS (
  SELECT min(row) AS row, min(id) AS id, CAST(0 AS BIGINT) AS distance FROM rows WHERE id = 0 HAVING count(*) > 0
  UNION ALL
  SELECT rows.row, rows.id, run.distance + 1 FROM run JOIN rows ON rows.parent_id = run.id AND rows.id <> 0
  WHERE run.distance < (SELECT count(*) FROM rows)
)
SELECT id, min(distance) FROM run WHERE distance > 0 GROUP BY row, id
"""
_REACHED = """
WITH RECURSIVE run AS (
  SELECT CAST(0 AS BIGINT) AS id, CAST(0 AS BIGINT) AS distance
  UNION
  SELECT rows.to_id, run.distance + 1 FROM run JOIN rows ON rows.from_id = run.id
  WHERE run.distance < (SELECT count(*) FROM rows) AND rows.to_id IS NOT NULL
)
SELECT id, min(distance) FROM run GROUP BY id
"""
_OWN = """
WITH inside AS (
  SELECT p.row AS row, greatest(c.ts, p.ts) AS ts, p.ts + p.length AS last,
    least(coalesce(c.ts + c.length, p.ts + p.length), p.ts + p.length) AS stop, c.row AS child
  FROM rows AS c JOIN rows AS p ON p.id = c.parent_id AND p.id <> c.id
),
reached AS (
  SELECT row, ts, stop,
    max(stop) OVER (PARTITION BY row ORDER BY child ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM inside
),
covered AS (
  SELECT row, sum(greatest(stop - greatest(ts, coalesce(before, ts)), 0)) AS length FROM reached GROUP BY row
)
SELECT rows.id, CAST(rows.length - coalesce(covered.length, 0) AS BIGINT)
FROM rows LEFT JOIN covered ON covered.row = rows.row
"""
_STACKS = """
WITH RECURSIVE paths AS (
  SELECT row, id, [coalesce(name, '?')] AS path FROM rows
  WHERE parent_id IS NULL OR parent_id NOT IN (SELECT id FROM rows WHERE id IS NOT NULL)
  UNION ALL
  SELECT rows.row, rows.id, list_append(paths.path, coalesce(rows.name, '?'))
  FROM paths JOIN rows ON rows.parent_id = paths.id
)
SELECT id, array_to_string(path, ';') FROM paths
"""


def _numbered(query: exp.Query, id_: int) -> exp.Query:
    """Put an id where the text of a query compares with 0."""
    for literal in list(query.find_all(exp.Literal)):
        parent = literal.parent
        if isinstance(parent, exp.EQ | exp.NEQ) and isinstance(parent.this, exp.Column) and parent.this.name == "id":
            literal.replace(w.whole(id_))
    return query


def ancestry(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return ids above or below one, and how far."""
    text = _BELOW if options["down"] else _ABOVE
    return _numbered(_asked(text, inputs[0], ("id", "parent_id"), options["names"]), options["start"])


def reachable(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return ids that arrows lead to, and how far."""
    query = _asked(_REACHED, inputs[0], ("from_id", "to_id"), options["names"])
    for alias in query.find_all(exp.Alias):
        if alias.alias == "id" and isinstance(alias.this, exp.Cast) and isinstance(alias.this.this, exp.Literal):
            alias.set("this", w.whole(options["start"]))
    return query


def self_time(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return ids, and durations without what children cover."""
    return _asked(_OWN, inputs[0], ("ts", "id", "parent_id", "length"), options["names"])


def stack_paths(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return ids, and the names that they are in."""
    return _asked(_STACKS, inputs[0], ("id", "parent_id", "name"), options["names"])
