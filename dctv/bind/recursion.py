"""Bind recursive common tables, `base UNION [ALL] step`: to a plan of their own, or to a query in their place.

What the step gives is brought to the types and units of the base. With USING KEY the rows that the table has so far are
told apart by some columns: a later row replaces the one of its key, and columns that are aggregated have the types and
units of the aggregates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from dctv.bind.binding import Binding
from dctv.bind.bound import Bound, mismatch, scale
from dctv.bind.context import BoundColumn, BoundQuery, Leaves
from dctv.bind.recursion_keys import using_key
from dctv.bind.relations import names_of, relation
from dctv.bind.scope import Scope
from dctv.bind.selects import bind_select
from dctv.bind.spellings import meant
from dctv.errors import BindError, UnitError
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Column
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import CommonTable, Compound, Item, Select, TableName
from dctv.plan.walk import replaced
from dctv.record import record, replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import compatible, ratio
from dctv.types.values import is_float

if TYPE_CHECKING:
    from dctv.plan.node import Node, Query


def recursive_plan(binder: Binding, cte: ast.CommonTable) -> Plan:
    """Bind a recursive common table that stands by itself."""
    leaves = Leaves()
    parts = _parts(binder, cte)
    base, _ = bind_select(parts.binder, parts.base, None, leaves)
    plan = relation(base, leaves, binder.env, cte.place, RowOrder.ANY)
    schema = _named(plan.schema, cte)
    made = _recursion(parts, (base, schema), None, leaves)
    return Relation(made.schema, RowOrder.ANY, query=made.query, leaves=leaves.all(), serial=made.serial)


def recursive_query(binder: Binding, cte: ast.CommonTable, parent: Scope, leaves: Leaves) -> BoundQuery:
    """Bind a recursive common table in its place: it may name columns of the query around it."""
    parts = _parts(binder, cte)
    base, _ = bind_select(parts.binder, parts.base, parent, leaves)
    types = [one.type for one in base.outs]
    columns = [ColumnType(one.name, t.text, one.unit) for one, t in zip(base.outs, types, strict=True) if t is not None]
    if len(columns) < len(types):
        raise BindError(
            "a recursive table that reads columns of the surrounding query needs known types",
            cte.place,
            hint="cast its columns",
        )
    schema = _named(Schema(Kind.REGULAR, tuple(columns)), cte)
    made = _recursion(parts, (base, schema), parent, leaves)
    outs = tuple(BoundColumn(one.name, one.unit, type=parse(one.type)) for one in made.schema.columns)
    return BoundQuery(made.query, outs, base.parts, sure=base.sure, serial=made.serial)


_IN_PROGRESS = Select()
"""Stands for the rows of a recursive table while its step is bound."""


def reads_rounds(select: ast.Select, common: Mapping[str, Plan]) -> bool:
    """Whether a select reads a recursive table whose step is being bound, so that it is a part of the step's query."""
    return any(
        isinstance(node, ast.TableName)
        and (name := common_name(node.path, common)) is not None
        and isinstance(plan := common[name], Relation)
        and plan.query is _IN_PROGRESS
        for node in nodes(select)
    )


@record
class _Parts:
    """A recursive common table, taken apart."""

    cte: ast.CommonTable
    binder: Binding
    base: ast.Select
    step: ast.Select
    all: bool


@record
class _RecursiveQuery:
    """The query of a recursive common table."""

    query: Query
    schema: Schema
    serial: bool


def recurring(name: str) -> str:
    """Return the name of all rows that a recursive common table has so far."""
    return f"recurring\0{name}"


def common_name(path: ast.Path, known: Iterable[str]) -> str | None:
    """Return the name of the common table that a path means, out of all that are known.

    Raises:
        BindError: it fits several of them.
    """
    names = [name for name in known if name.count("\0") == len(path.parts) - 1]
    found = meant(names, "\0".join(part.text for part in path.parts), path.place, "table")
    return names[found[0]] if found else None


def _parts(binder: Binding, cte: ast.CommonTable) -> _Parts:
    body = cte.select.body
    if not isinstance(body, ast.Compound) or body.op != "UNION":
        raise BindError(f"the recursive table `{cte.name.text}` is not of the form base UNION [ALL] step", cte.place)
    if body.by_name:
        raise BindError("the step of a recursive table matches columns by position, not by name", body.place)
    _refuse_ends(cte)
    inner = binder.with_common_tables(cte.select)
    *base, step = body.parts
    first = base[0] if len(base) == 1 else replace(body, parts=tuple(base))
    return _Parts(cte, inner, _as_select(first), _as_select(step), body.all)


def _refuse_ends(cte: ast.CommonTable) -> None:
    """Refuse clauses after the step, which are neither of it nor of the rows of all rounds."""
    select = cte.select
    ends = [("LIMIT", select.limit), ("OFFSET", select.offset), ("ORDER BY", (*select.order_by, None)[0])]
    for clause, found in ends:
        if found is not None:
            raise BindError(
                f"a recursive table has no {clause} of its own",
                found.place,
                hint="put it into the query that reads the table, or into parentheses with the step",
            )


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


def _recursion(parts: _Parts, base: tuple[BoundQuery, Schema], parent: Scope | None, leaves: Leaves) -> _RecursiveQuery:
    """Bind the step, and write the query; the table that is being made is a leaf for that long."""
    first, given = base
    keys, schema = using_key(parts.binder, parts.cte, given, first.query, leaves)
    itself, whole = (Relation(schema, RowOrder.ANY, query=_IN_PROGRESS) for _ in range(2))
    own, everything = leaves.name(itself), leaves.name(whole)
    name = parts.cte.name.text
    tables = {**parts.binder.common, name: itself, recurring(name): whole}
    step, _ = bind_select(parts.binder.copy(common=tables, recursive=True), parts.step, parent, leaves)
    leaves.forget(itself)
    leaves.forget(whole)
    if len(step.outs) != len(first.outs):
        raise BindError(
            f"the parts of `{parts.cte.name.text}` differ: {len(first.outs)} and {len(step.outs)} columns",
            parts.cte.place,
        )
    round_ = _in_units(step, given, parts.step)

    def so_far(node: Node) -> Node | None:
        if not isinstance(node, TableName) or node.name != everything:
            return None
        return replace(node, name=own, recurring=True)

    union = Compound("UNION", (first.query, replaced(round_, so_far)), all=parts.all)
    names = tuple(physical_names(schema))
    query = w.select(*w.columns(names, own), source=own)
    made = replace(query, steps=(CommonTable(own, union, names, keys=keys),), recursive=True)
    return _RecursiveQuery(made, schema, first.serial or step.serial or bool(keys))


def _in_units(step: BoundQuery, schema: Schema, select: ast.Select) -> Query:
    """Convert the step's columns to the units of the base.

    Raises:
        UnitError: they are of other things, or of the base's whole numbers some would be fractions.
    """
    pairs = list(zip(step.outs, schema.columns, strict=True))
    if all(out.any_unit or out.unit == column.unit for out, column in pairs):
        return step.query
    values = []
    for name, (out, column) in zip(names_of(step.outs), pairs, strict=True):
        bound = Bound(Column(name, "side"), out.unit, select.place, type=out.type)
        if out.any_unit or out.unit == column.unit:
            values.append(Item(bound.value, name))
            continue
        if not compatible(out.unit, column.unit):
            raise mismatch(Bound(NULL, column.unit), bound, f"the step's `{column.name}`")
        factor = ratio(out.unit, column.unit)
        if factor.denominator != 1 and not is_float(column.type):
            raise UnitError(
                f"the step returns `{column.name}` in `{out.unit}`, but the base has it in `{column.unit}`",
                select.place,
                hint=f"use the finer unit in the base: {column.name} IN {out.unit}",
            )
        values.append(Item(scale(bound, factor, column.unit).value, name))
    return w.select(*values, source=step.query, alias="side")


def _as_select(body: ast.Body) -> ast.Select:
    return body if isinstance(body, ast.Select) else ast.Select(body, place=body.place)
