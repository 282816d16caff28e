"""Recursive common tables: `base UNION [ALL] step` -> a plan of its own, or a query in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dctv.bind.binding import Binding
from dctv.bind.context import BoundQuery, Leaves, Out
from dctv.bind.relations import relation
from dctv.bind.scope import Scope
from dctv.bind.selects import bind_select
from dctv.errors import BindError
from dctv.plan import build as w
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import CommonTable, Compound, Select
from dctv.record import record, replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema

if TYPE_CHECKING:
    from dctv.plan.node import Query


def recursive_plan(binder: Binding, cte: ast.CommonTable) -> Plan:
    """Bind a recursive common table that stands by itself."""
    leaves = Leaves()
    parts = _parts(binder, cte)
    base, _ = bind_select(parts.binder, parts.base, None, leaves)
    plan = relation(base, leaves, binder.env, cte.place, RowOrder.ANY)
    schema = _named(plan.schema, cte)
    query = _recursion(parts, (base, schema), None, leaves)
    return Relation(schema, RowOrder.ANY, query=query, leaves=leaves.all())


def recursive_query(binder: Binding, cte: ast.CommonTable, parent: Scope, leaves: Leaves) -> BoundQuery:
    """Bind a recursive common table in its place: it may name columns of the query around it."""
    parts = _parts(binder, cte)
    base, _ = bind_select(parts.binder, parts.base, parent, leaves)
    types = [one.type for one in base.outs]
    columns = [ColumnType(one.name, t.text, one.unit) for one, t in zip(base.outs, types, strict=True) if t is not None]
    if len(columns) < len(types):
        raise BindError(
            "a recursive table that reads columns around it needs types", cte.place, hint="cast its columns"
        )
    schema = _named(Schema(Kind.REGULAR, tuple(columns)), cte)
    query = _recursion(parts, (base, schema), parent, leaves)
    outs = tuple(Out(one.name, one.unit, type=parse(one.type)) for one in schema.columns)
    return BoundQuery(query, outs, base.parts, sure=base.sure, serial=base.serial)


@record
class _Parts:
    """A recursive common table, taken apart."""

    cte: ast.CommonTable
    binder: Binding
    base: ast.Select
    step: ast.Select
    all: bool


def _parts(binder: Binding, cte: ast.CommonTable) -> _Parts:
    body = cte.select.body
    if not isinstance(body, ast.Compound) or body.op != "UNION":
        raise BindError(f"the recursive table `{cte.name.text}` is not of the form base UNION [ALL] step", cte.place)
    inner = binder.with_common_tables(cte.select)
    return _Parts(cte, inner, _as_select(body.left), _as_select(body.right), body.all)


def _named(schema: Schema, cte: ast.CommonTable) -> Schema:
    names: Sequence[ast.Name] = cte.columns
    if not names:
        return schema
    if len(names) != len(schema.columns):
        raise BindError(
            f"`{cte.name.text}` has {len(schema.columns)} columns, the list names {len(names)}", names[0].place
        )
    renamed = (replace(one, name=name.text) for one, name in zip(schema.columns, names, strict=True))
    return Schema(Kind.REGULAR, tuple(renamed))


def _recursion(parts: _Parts, base: tuple[BoundQuery, Schema], parent: Scope | None, leaves: Leaves) -> Query:
    """Bind the step, and write the query; the table that is being made is a leaf for that long."""
    first, schema = base
    itself = Relation(schema, RowOrder.ANY, query=Select())
    own = leaves.name(itself)
    known = {**parts.binder.common, parts.cte.name.text.lower(): itself}
    step, _ = bind_select(parts.binder.copy(common=known, recursive=True), parts.step, parent, leaves)
    leaves.forget(itself)
    if len(step.outs) != len(first.outs):
        raise BindError(
            f"the parts of `{parts.cte.name.text}` differ: {len(first.outs)} and {len(step.outs)} columns",
            parts.cte.place,
        )
    union = Compound("UNION", (first.query, step.query), all=parts.all)
    names = tuple(physical_names(schema))
    query = w.select(*w.columns(names, own), source=own)
    return replace(query, steps=(CommonTable(own, union, names),), recursive=True)


def _as_select(body: ast.Body) -> ast.Select:
    return body if isinstance(body, ast.Select) else ast.Select(body, place=body.place)
