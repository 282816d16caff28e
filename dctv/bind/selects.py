"""Bind whole regular selects: compounds, VALUES, common tables, ORDER BY, LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from dctv.bind import expressions
from dctv.bind.alike import HINT, alike, mixture
from dctv.bind.asked_types import typed_beside_units, typed_results
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound, constant, convert
from dctv.bind.branches import of_branches
from dctv.bind.context import BoundColumn, BoundQuery, ClauseContext, Environment, Leaves
from dctv.bind.distinct_on import first_of_each
from dctv.bind.grouping import aggregates, outside, parts_of
from dctv.bind.int128 import is_wide
from dctv.bind.many_columns import Chosen, once_each
from dctv.bind.relations import names_of
from dctv.bind.result_names import position_of
from dctv.bind.same_names import matched
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable
from dctv.bind.select_cores import OutputColumn, bind_core, ordinal
from dctv.bind.stars import named_columns
from dctv.bind.types import BIGINT, DOUBLE, INTERVAL, of_cast, of_choice, settled
from dctv.bind.windows import ordered, refuse_constant
from dctv.errors import BindError
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import NULL, Cast, Column, Number, Ordered, Percent, Text
from dctv.plan.node import Query
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Compound, Derived, Rows, Select, TableName
from dctv.plan.queries import Item as Result
from dctv.record import replace
from dctv.signatures.carried import WIDE
from dctv.signatures.types import Type, parse
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.schema import ColumnType
from dctv.types.unit import NO_UNIT
from dctv.types.units import compatible, finer, parse_unit
from dctv.types.values import is_integer


def bind_select(binder: Binding, select: ast.Select, parent: Scope | None, leaves: Leaves) -> tuple[BoundQuery, bool]:
    """Bind a regular select; also tells whether its rows come in an order of their own."""
    binder = binder.with_common_tables(select, parent)
    if isinstance(select.body, ast.Core) and select.body.distinct_on:
        select = replace(select, body=first_of_each(select.body, select.order_by))
    if binder.is_typed(select.body):
        return read_plan(binder.plan(replace(select, ctes=())), leaves), True
    items: Sequence[OutputColumn] = ()
    context = binder.context(Scope([]), leaves)
    keys = None
    if isinstance(select.body, ast.Core):
        core = bind_core(binder, select.body, parent, leaves)
        query, keeps, items, context, keys = core.query, core.keeps_order, core.items, core.context, core.keys
    else:
        query, keeps = _body(binder, select.body, parent, leaves)
        if _is_cut(select):
            query, items = _wrap(query, leaves)
            context = _outputs(binder, items, leaves)
    if not _is_cut(select):
        return query, keeps
    block = query.query
    assert isinstance(block, Select)
    if select.order_by:
        select = replace(select, order_by=tuple(of_branches(one, select.body, items) for one in select.order_by))
        block, terms = _order(query, block, items, context, select)
        ungrouped = None if keys is None else outside(terms, keys)
        fit = all(one.type is not None for one in terms) and ungrouped is None
        distinct = isinstance(select.body, ast.Core) and select.body.distinct
        sure = query.sure and fit and not (terms and distinct) and (keys is not None or not any(map(aggregates, terms)))
        serial = query.serial or any(one.serial for one in parts_of(terms))
        query = replace(query, sure=sure, serial=serial, ungrouped=query.ungrouped or ungrouped)
    elif not keeps:
        # LIMIT takes the same rows in every run only if all rows are in order.
        block = replace(block, order_by=_all_columns(query))
    block, taken = apply_limit(binder, block, select)
    return replace(query, query=block, sure=query.sure and taken), True


def _is_cut(select: ast.Select) -> bool:
    """Whether ORDER BY, LIMIT or OFFSET apply to a select's body."""
    return bool(select.order_by) or select.limit is not None or select.offset is not None


def _all_columns(query: BoundQuery) -> tuple[Ordered, ...]:
    return tuple(Ordered(Number(str(i + 1))) for i in range(len(query.outs)))


def _body(binder: Binding, body: ast.Body, parent: Scope | None, leaves: Leaves) -> tuple[BoundQuery, bool]:
    match body:
        case ast.Select():
            return bind_select(binder, body, parent, leaves)
        case ast.Core():
            if body.kind != "REGULAR":
                raise BindError(
                    f"{body.kind.lower()} tables cannot be combined by UNION, INTERSECT or EXCEPT",
                    body.place,
                    hint="a plain SELECT sees them as regular tables",
                )
            core = bind_core(binder, first_of_each(body, ()), parent, leaves)
            return core.query, core.keeps_order
        case ast.Values():
            return _values(binder, body, parent, leaves), True
        case ast.Compound():
            return _compound(binder, body, parent, leaves), False


def _values(binder: Binding, values: ast.Values, parent: Scope | None, leaves: Leaves) -> BoundQuery:
    context = binder.context(Scope([], parent), leaves, clause="VALUES", aggregates_allowed=False)
    width = len(values.rows[0])
    for row in values.rows:
        if len(row) != width:
            raise BindError(
                f"rows of VALUES differ in length: expected {width} values, found {len(row)}",
                row[0].place if row else values.place,
            )
    rows = [[expressions.bind(e, context) for e in row] for row in values.rows]
    columns = [alike(typed_beside_units(column, context), "VALUES") for column in zip(*rows, strict=True)]
    written = tuple(tuple(b.value for b in row) for row in zip(*columns, strict=True))
    names = tuple(f"column{i + 1}" for i in range(width))
    types = [settled(of_choice([b.type for b in column])) for column in columns]
    units = [next((b.unit for b in column if b.unit != NO_UNIT), NO_UNIT) for column in columns]
    wide = [any(map(is_wide, column)) for column in columns]
    outs = tuple(
        BoundColumn(n, u, type=made, wide=big) for n, u, made, big in zip(names, units, types, wide, strict=True)
    )
    inner = leaves.alias("v")
    query = w.select(*names, source=Rows(written, inner, names), alias=inner)
    parts = tuple(b for row in rows for b in row)
    serial = any(one.serial for one in parts_of(parts))
    return BoundQuery(query, outs, parts, sure=None not in types, serial=serial)


def _compound(binder: Binding, node: ast.Compound, parent: Scope | None, leaves: Leaves) -> BoundQuery:
    """Combine the parts from left to right; the first also takes the place of what was combined so far."""
    first, *others = node.parts
    made = _body(binder, first, parent, leaves)[0]
    for part in others:
        right = _body(binder, part, parent, leaves)[0]
        place = node.place and part.place and replace(node.place, stop=part.place.stop)
        made = _combined(replace(node, place=place), made, right, (leaves, binder.env))
    return made


def _combined(node: ast.Compound, left: BoundQuery, right: BoundQuery, about: tuple[Leaves, Environment]) -> BoundQuery:
    if node.by_name:
        left, right = matched(node, left, right)
    if len(left.outs) != len(right.outs):
        raise BindError(
            f"{node.op} needs as many columns on both sides, found {len(left.outs)} and {len(right.outs)}",
            node.place,
            hint="add NULL AS name for a column that one side lacks, or match columns with UNION BY NAME",
        )
    left, right = typed_results(left, right, *about), typed_results(right, left, *about)
    left, right = _same_units(node, left, right)
    types = [of_choice([a.type, b.type]) for a, b in zip(left.outs, right.outs, strict=True)]
    outs = tuple(
        replace(a, type=made, wide=a.wide or b.wide) for a, b, made in zip(left.outs, right.outs, types, strict=True)
    )
    sure = left.sure and right.sure and None not in types
    query = Compound(node.op, (*_parts(node, left, types), right.query), all=node.all)
    return BoundQuery(query, outs, left.parts + right.parts, sure=sure, serial=left.serial or right.serial)


def _parts(node: ast.Compound, left: BoundQuery, types: Sequence[Type | None]) -> tuple[Query, ...]:
    """Return the first parts of a compound: those of a left compound with the same operator and types.

    Else they stay apart: the engine brings all parts of a union to one type at once, so that of 1, 1.5 and 'x' the
    first would be '1' and not '1.0'.
    """
    query = left.query
    if isinstance(query, Compound) and query == Compound(node.op, query.parts, all=node.all):
        fit = None not in types and types == [out.type for out in left.outs]
        return query.parts if fit else (query,)
    return (query,)


def _as_times(a: BoundColumn, b: BoundColumn) -> tuple[BoundColumn, BoundColumn]:
    """Return two columns of which an INTERVAL is a time where the other one has a unit of time."""
    us = parse_unit("us")
    time = BoundColumn(a.name, us, "integer", type=BIGINT)
    if a.type == INTERVAL and b.unit != NO_UNIT and compatible(b.unit, us):
        return time, b
    return (a, time) if b.type == INTERVAL and a.unit != NO_UNIT and compatible(a.unit, us) else (a, b)


def _same_units(node: ast.Compound, left: BoundQuery, right: BoundQuery) -> tuple[BoundQuery, BoundQuery]:
    units = []
    for a, b in map(_as_times, left.outs, right.outs):
        if None not in (a.family, b.family) and (a.family == "text") != (b.family == "text"):
            shown = ["a string" if o.family == "text" else "a number" for o in (a, b)]
            raise BindError(
                f"{node.op}: column `{a.name}` mixes {shown[0]} and {shown[1]}",
                node.place,
                hint=f"cast one of them, such as {a.name}::STRING",
            )
        mixed = mixture((a.type, b.type))
        if mixed is not None:
            raise BindError(f"{node.op}: column `{a.name}` mixes {mixed[1]}", node.place, hint=HINT)
        if a.any_unit or b.any_unit:
            units.append(b.unit if a.any_unit else a.unit)
            continue
        if not compatible(a.unit, b.unit):
            shown = [f"`{u}`" if u != NO_UNIT else "a bare number" for u in (a.unit, b.unit)]
            raise BindError(f"{node.op}: column `{a.name}` mixes {shown[0]} and {shown[1]}", node.place)
        units.append(finer(a.unit, b.unit))

    def converted(query: BoundQuery) -> BoundQuery:
        if all(o.unit == u or o.any_unit for o, u in zip(query.outs, units, strict=True)):
            outs = tuple(
                BoundColumn(o.name, u, type=o.type, wide=o.wide) for o, u in zip(query.outs, units, strict=True)
            )
            return replace(query, outs=outs)
        columns: list[Result] = []
        outs = ()
        for name, out, unit in zip(names_of(query.outs), query.outs, units, strict=True):
            own = Bound(Column(name, "side"), unit if out.any_unit else out.unit, type=out.type)
            bound = convert(own, unit, node.op)
            columns.append(Result(bound.value, name))
            outs += (BoundColumn(out.name, unit, type=bound.type, wide=out.wide),)
        made = w.select(*columns, source=query.query, alias="side")
        return BoundQuery(made, outs, query.parts, sure=query.sure, serial=query.serial)

    return converted(left), converted(right)


def _wrap(query: BoundQuery, leaves: Leaves) -> tuple[BoundQuery, list[OutputColumn]]:
    """Put a query into a subquery, so that ORDER BY and LIMIT apply to its whole result."""
    inner = leaves.alias("whole")
    names = names_of(query.outs)
    columns = w.columns(names, inner)
    made = Select(tuple(w.named(columns, names)), Derived(query.query, inner))
    items = [OutputColumn(o.name, Bound(c, o.unit, type=o.type)) for o, c in zip(query.outs, columns, strict=True)]
    return BoundQuery(made, query.outs, query.parts, sure=query.sure, serial=query.serial), items


def _outputs(binder: Binding, items: Sequence[OutputColumn], leaves: Leaves) -> ClauseContext:
    """Let ORDER BY name the result columns of a wrapped query."""
    scoped = tuple(
        ScopeColumn(
            ColumnType(i.name, "" if i.bound.type is None else i.bound.type.text, i.bound.unit),
            i.bound.value,
            i.bound.origin,
        )
        for i in items
    )
    return binder.context(Scope([ScopeTable(None, scoped)]), leaves, clause="ORDER BY")


def _order(
    query: BoundQuery, block: Select, items: Sequence[OutputColumn], context: ClauseContext, select: ast.Select
) -> tuple[Select, list[Bound]]:
    """Add ORDER BY to a block, and return its terms that are not columns of the result, too.

    Ties are broken by all columns, so that every run gives the same order.
    """
    context = replace(context, clause="ORDER BY")
    terms: list[Ordered] = []
    others: list[Bound] = []
    for term in select.order_by:
        if isinstance(term.expr, ast.Star):
            terms += [ordered(one.operand, term) for one in _all_columns(query)]
            continue
        position = ordinal(term.expr, items, "ORDER BY")
        if position is None:
            position = _named(term.expr, items)
        if position is not None:
            terms.append(ordered(Number(str(position + 1)), term))
            continue
        for _, expr in once_each(_collated(term.expr, items), context, named_columns):
            bound = expressions.compared(expr, context)
            if isinstance(expr, ast.Collate) and not walk.columns_in(bound.value):
                continue  # A constant sorts nothing, and the engine refuses it.
            refuse_constant(bound)
            others.append(bound)
            terms.append(ordered(bound.value, term))
    return replace(block, order_by=(*terms, *_all_columns(query))), others


def _collated(expr: ast.Expr, items: Sequence[OutputColumn]) -> ast.Expr:
    """Resolve `1 COLLATE x` and `name COLLATE x` in ORDER BY to that result column with a collation."""
    if not isinstance(expr, ast.Collate):
        return expr
    position = ordinal(expr.operand, items, "ORDER BY")
    if position is None:
        position = _named(expr.operand, items)
    return expr if position is None else replace(expr, operand=Chosen(items[position].bound, place=expr.operand.place))


def _named(expr: ast.Expr, items: Sequence[OutputColumn]) -> int | None:
    """Return the result column that a bare name means in ORDER BY, where results come before inputs."""
    if not isinstance(expr, ast.Column) or len(expr.path.parts) != 1:
        return None
    return position_of([(item.name, item.bound) for item in items], expr.path.parts[0].text, expr.path.place)


def apply_limit(binder: Binding, query: Select, select: ast.Select) -> tuple[Select, bool]:
    """Add LIMIT and OFFSET to a query, and tell whether the engine surely takes them."""
    sure = True
    for key, expr in (("limit", select.limit), ("offset", select.offset)):
        if expr is None:
            continue
        if isinstance(expr, ast.Percent):
            share = _share(binder, expr)
            query, sure = replace(query, limit=Percent(share.value)), sure and share.type is not None
            continue
        bound = _count(binder, expr, key.upper())
        fraction = bound.constant is not None and (bound.constant < 0 or bound.constant.denominator != 1)
        if fraction or (isinstance(bound.value, Text) and not bound.value.value.isdecimal()):
            raise BindError(f"{key.upper()} is a whole number that is not negative", expr.place)
        query = replace(query, limit=bound.value) if key == "limit" else replace(query, offset=bound.value)
        sure = sure and (bound.constant is not None or (bound.type is not None and is_integer(bound.type.name)))
    return query, sure


def _count(binder: Binding, expr: ast.Expr, clause: str) -> Bound:
    if any(isinstance(node, ast.Select) for node in nodes(expr)):
        return _counted(binder, expr, clause)
    bound = expressions.bind(expr, binder.context(Scope([]), Leaves(), clause=clause))
    return convert(bound, NO_UNIT, clause)


def _counted(binder: Binding, expr: ast.Expr, clause: str) -> Bound:
    """Run a subquery for a number of rows, or what is computed from one: NULL means all of them, or an offset of 0."""
    computed = ast.Core((ast.ResultColumn(expr, place=expr.place),), place=expr.place)
    plan = binder.plan(expr.select if isinstance(expr, ast.ScalarSelect) else ast.Select(computed, place=expr.place))
    if len(plan.schema.columns) != 1 or plan.schema.columns[0].unit != NO_UNIT:
        raise BindError(f"the subquery of {clause} has one column of bare numbers", expr.place)
    values = binder.env.evaluate(plan)
    if len(values) > 1 or (values and not isinstance(values[0], int | None)):
        raise BindError(f"the subquery of {clause} gives one whole number", expr.place)
    value = values[0] if values else None
    if value is None:
        return Bound(NULL, place=expr.place, type=BIGINT)
    return constant(Fraction(cast("int", value)), NO_UNIT, expr.place, integral=True)


def _share(binder: Binding, expr: ast.Percent) -> Bound:
    """Bind a share of the rows as a double, which is cut to whole rows when it is known how many there are."""
    bound = _count(binder, expr.operand, "LIMIT")
    if bound.family == "text" or (bound.constant is not None and not 0 <= bound.constant <= 100):
        raise BindError("LIMIT takes from 0 to 100 percent of the rows", expr.place)
    made = None if bound.type is None else of_cast(bound.type, DOUBLE.text)
    return replace(bound, value=Cast(bound.value, DOUBLE.text), type=made)


def read_plan(plan: Plan, leaves: Leaves) -> BoundQuery:
    """Return a query that reads a plan as a regular table."""
    inner = leaves.alias("t")
    names = physical_names(plan.schema)
    source = TableName(leaves.name(plan), inner)
    outs = tuple(BoundColumn(c.name, c.unit, type=parse(c.type), wide=c.type in WIDE) for c in plan.schema.columns)
    return BoundQuery(w.select(*w.named(w.columns(names, inner), names), source=source), outs, source=source, sure=True)
