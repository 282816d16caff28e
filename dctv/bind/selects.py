"""Binds whole regular selects: compounds, VALUES, common tables, ORDER BY, LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from dctv.bind import calls, expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound, convert, scale, unify
from dctv.bind.context import Context, Leaves, Out, Query
from dctv.bind.cores import Item, bind_core, ordinal
from dctv.bind.grouping import aggregates, outside, within
from dctv.bind.relations import names_of
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable
from dctv.bind.types import of_choice, settled
from dctv.errors import BindError
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.sql import aliased, identifier, table
from dctv.record import replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.schema import ColumnType
from dctv.types.unit import NO_UNIT
from dctv.types.units import compatible, finer, ratio

_COMPOUNDS = {"UNION": exp.Union, "INTERSECT": exp.Intersect, "EXCEPT": exp.Except}


def bind_select(binder: Binding, select: ast.Select, parent: Scope | None, leaves: Leaves) -> tuple[Query, bool]:
    """Bind a regular select; also tells whether its rows come in an order of their own."""
    binder = binder.with_common_tables(select)
    if binder.is_typed(select.body):
        query = read_plan(binder.plan(replace(select, ctes=())), leaves)
        return query, True
    items: Sequence[Item] = ()
    context = binder.context(Scope([]), leaves)
    keys = None
    if isinstance(select.body, ast.Core):
        core = bind_core(binder, select.body, parent, leaves)
        query, keeps, items, context, keys = core.query, core.keeps_order, core.items, core.context, core.keys
    else:
        query, keeps = _body(binder, select.body, parent, leaves)
        if select.order_by or select.limit is not None or select.offset is not None:
            query = _wrap(query, leaves)
            items, context = _outputs(binder, query, leaves)
    if select.order_by:
        terms = _order(query, items, context, select)
        ungrouped = None if keys is None else outside(terms, keys)
        fit = all(one.type is not None for one in terms) and ungrouped is None
        distinct = isinstance(select.body, ast.Core) and select.body.distinct
        sure = query.sure and fit and not (terms and distinct) and (keys is not None or not any(map(aggregates, terms)))
        serial = query.serial or any(one.serial for one in within(terms))
        query = replace(query, sure=sure, serial=serial, ungrouped=query.ungrouped or ungrouped)
        keeps = True
    elif not keeps and (select.limit is not None or select.offset is not None):
        # LIMIT takes the same rows in every run only if all rows are in order.
        query.tree.set("order", exp.Order(expressions=_all_columns(query)))
        keeps = True
    if not apply_limit(binder, query.tree, select):
        query = replace(query, sure=False)
    return query, keeps


def _all_columns(query: Query) -> list[exp.Expr]:
    return [exp.Ordered(this=exp.Literal.number(i + 1), nulls_first=False) for i in range(len(query.outs))]


def _body(binder: Binding, body: ast.Body, parent: Scope | None, leaves: Leaves) -> tuple[Query, bool]:
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
            core = bind_core(binder, body, parent, leaves)
            return core.query, core.keeps_order
        case ast.Values():
            return _values(binder, body, parent, leaves), True
        case ast.Compound():
            return _compound(binder, body, parent, leaves), False


def _values(binder: Binding, values: ast.Values, parent: Scope | None, leaves: Leaves) -> Query:
    context = binder.context(Scope([], parent), leaves, clause="VALUES", aggregates_allowed=False)
    width = len(values.rows[0])
    for row in values.rows:
        if len(row) != width:
            raise BindError(
                f"rows of VALUES differ in length: expected {width} values, found {len(row)}",
                row[0].place if row else values.place,
            )
    rows = [[expressions.bind(e, context) for e in row] for row in values.rows]
    columns = [unify(list(column), "VALUES") for column in zip(*rows, strict=True)]
    tuples = [exp.Tuple(expressions=[b.sql for b in row]) for row in zip(*columns, strict=True)]
    names = [f"column{i + 1}" for i in range(width)]
    types = [settled(of_choice([b.type for b in column])) for column in columns]
    units = [next((b.unit for b in column if b.unit != NO_UNIT), NO_UNIT) for column in columns]
    outs = tuple(Out(n, u, type=made) for n, u, made in zip(names, units, types, strict=True))
    inner = leaves.alias("v")
    alias = exp.TableAlias(this=identifier(inner), columns=[identifier(n) for n in names])
    source = exp.From(this=exp.Values(expressions=tuples, alias=alias))
    tree = exp.Select(expressions=[exp.column(n, inner, quoted=True) for n in names])
    tree.set("from_", source)
    parts = tuple(b for row in rows for b in row)
    serial = any(one.serial for one in within(parts))
    return Query(tree, outs, parts, sure=None not in types, serial=serial)


def _compound(binder: Binding, node: ast.Compound, parent: Scope | None, leaves: Leaves) -> Query:
    left, right = (_body(binder, side, parent, leaves)[0] for side in (node.left, node.right))
    if len(left.outs) != len(right.outs):
        raise BindError(
            f"{node.op} needs as many columns on both sides, found {len(left.outs)} and {len(right.outs)}", node.place
        )
    left, right = _same_units(node, left, right)
    tree = _COMPOUNDS[node.op](this=_side(left), expression=_side(right), distinct=not node.all)
    types = [of_choice([a.type, b.type]) for a, b in zip(left.outs, right.outs, strict=True)]
    outs = tuple(replace(out, type=made) for out, made in zip(left.outs, types, strict=True))
    sure = left.sure and right.sure and None not in types
    return Query(tree, outs, left.parts + right.parts, sure=sure, serial=left.serial or right.serial)


def _side(query: Query) -> exp.Expr:
    """Return a side of a compound; parentheses keep nested compounds and ORDER BY apart."""
    plain = isinstance(query.tree, exp.Select) and not (query.tree.args.get("order") or query.tree.args.get("limit"))
    if plain:
        return query.tree
    inner = exp.Subquery(this=query.tree, alias=exp.TableAlias(this=identifier("side")))
    return exp.Select(expressions=[exp.Star()]).from_(inner)


def _same_units(node: ast.Compound, left: Query, right: Query) -> tuple[Query, Query]:
    units = []
    for a, b in zip(left.outs, right.outs, strict=True):
        if None not in (a.family, b.family) and (a.family == "text") != (b.family == "text"):
            shown = ["a string" if o.family == "text" else "a number" for o in (a, b)]
            raise BindError(
                f"{node.op}: column `{a.name}` mixes {shown[0]} and {shown[1]}",
                node.place,
                hint=f"cast one of them, such as {a.name}::STRING",
            )
        if a.any_unit or b.any_unit:
            units.append(b.unit if a.any_unit else a.unit)
            continue
        if not compatible(a.unit, b.unit):
            shown = [f"`{u}`" if u != NO_UNIT else "a bare number" for u in (a.unit, b.unit)]
            raise BindError(f"{node.op}: column `{a.name}` mixes {shown[0]} and {shown[1]}", node.place)
        units.append(finer(a.unit, b.unit))

    def converted(query: Query) -> Query:
        if all(o.unit == u or o.any_unit for o, u in zip(query.outs, units, strict=True)):
            outs = tuple(Out(o.name, u, type=o.type) for o, u in zip(query.outs, units, strict=True))
            return replace(query, outs=outs)
        columns: list[exp.Expr] = []
        outs = ()
        for name, out, unit in zip(names_of(query.outs), query.outs, units, strict=True):
            factor = Fraction(1) if out.any_unit else ratio(out.unit, unit)
            bound = scale(Bound(exp.column(name, "side", quoted=True), out.unit, type=out.type), factor, unit)
            columns.append(aliased(bound.sql, name))
            outs += (Out(out.name, unit, type=bound.type),)
        inner = exp.Subquery(this=query.tree, alias=exp.TableAlias(this=identifier("side")))
        tree = exp.Select(expressions=columns).from_(inner)
        return Query(tree, outs, query.parts, sure=query.sure, serial=query.serial)

    return converted(left), converted(right)


def _wrap(query: Query, leaves: Leaves) -> Query:
    """Put a query into a subquery, so that ORDER BY and LIMIT apply to its whole result."""
    inner = leaves.alias("whole")
    names = names_of(query.outs)
    columns: list[exp.Expr] = [aliased(exp.column(n, inner, quoted=True), n) for n in names]
    source = exp.From(this=exp.Subquery(this=query.tree, alias=exp.TableAlias(this=identifier(inner))))
    tree = exp.Select(expressions=columns)
    tree.set("from_", source)
    return Query(tree, query.outs, query.parts, sure=query.sure, serial=query.serial)


def _outputs(binder: Binding, query: Query, leaves: Leaves) -> tuple[list[Item], Context]:
    """Return the result columns of a wrapped query as what ORDER BY may name."""
    assert isinstance(query.tree, exp.Select)
    items = [
        Item(out.name, Bound(column.this.copy(), out.unit, type=out.type))
        for out, column in zip(query.outs, query.tree.expressions, strict=True)
    ]
    scoped = tuple(
        ScopeColumn(ColumnType(i.name, "" if i.bound.type is None else i.bound.type.text, i.bound.unit), i.bound.sql)
        for i in items
    )
    context = binder.context(Scope([ScopeTable(None, scoped)]), leaves, clause="ORDER BY")
    return items, context


def _order(query: Query, items: Sequence[Item], context: Context, select: ast.Select) -> list[Bound]:
    """Add ORDER BY and return its terms that are not columns of the result.

    Ties are broken by all columns, so that every run gives the same order.
    """
    context = replace(context, clause="ORDER BY")
    terms: list[exp.Expr] = []
    others: list[Bound] = []
    for term in select.order_by:
        position = ordinal(term.expr, items, "ORDER BY")
        if position is None:
            position = _named(term.expr, items)
        if position is not None:
            terms.append(calls.ordered(exp.Literal.number(position + 1), term))
            continue
        others.append(expressions.bind(term.expr, context))
        terms.append(calls.ordered(others[-1].sql, term))
    query.tree.set("order", exp.Order(expressions=terms + _all_columns(query)))
    return others


def _named(expr: ast.Expr, items: Sequence[Item]) -> int | None:
    """Return the result column that a bare name means in ORDER BY, where results come before inputs."""
    if not isinstance(expr, ast.Column) or len(expr.path.parts) != 1:
        return None
    wanted = expr.path.parts[0].text
    exact = [i for i, item in enumerate(items) if item.name == wanted]
    for found in (exact, [i for i, item in enumerate(items) if item.name.lower() == wanted.lower()]):
        if found:
            return found[0] if len(found) == 1 else None
    return None


def apply_limit(binder: Binding, tree: exp.Query, select: ast.Select) -> bool:
    """Add LIMIT and OFFSET to a query, and tell whether the engine surely takes them."""
    sure = True
    for key, expr, form in (("limit", select.limit, exp.Limit), ("offset", select.offset, exp.Offset)):
        if expr is None:
            continue
        bound = expressions.bind(expr, binder.context(Scope([]), Leaves(), clause=key.upper()))
        bound = convert(bound, NO_UNIT, key.upper())
        if bound.constant is not None and (bound.constant < 0 or bound.constant.denominator != 1):
            raise BindError(f"{key.upper()} is a whole number that is not negative", expr.place)
        tree.set(key, form(expression=bound.sql))
        sure = sure and bound.constant is not None
    return sure


def read_plan(plan: Plan, leaves: Leaves) -> Query:
    """Return a query that reads a plan as a regular table."""
    inner = leaves.alias("t")
    names = physical_names(plan.schema)
    columns: list[exp.Expr] = [aliased(exp.column(n, inner, quoted=True), n) for n in names]
    tree = exp.Select(expressions=columns)
    tree.set("from_", exp.From(this=table(leaves.name(plan), inner)))
    outs = tuple(Out(c.name, c.unit, type=parse(c.type)) for c in plan.schema.columns)
    return Query(tree, outs, source=tree.args["from_"], sure=True)
