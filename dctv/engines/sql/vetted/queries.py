"""Convert queries of the plan to equivalent queries for Spark, with the known types of their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dctv.engines.sql.trees import GroupedBy
from dctv.engines.sql.vetted import aggregates
from dctv.engines.sql.vetted.casts import brought, integer_of
from dctv.engines.sql.vetted.expressions import condition, ordered, typed, value
from dctv.engines.sql.vetted.functions import AGGREGATES, NAMES
from dctv.engines.sql.vetted.gaps import check
from dctv.engines.sql.vetted.refusal import refused
from dctv.engines.sql.vetted.scope import Columns, Typed, VettedScope
from dctv.engines.sql.vetted.types import BIGINT
from dctv.plan import expressions as e
from dctv.plan import queries as q
from dctv.plan import walk
from dctv.plan.node import Query
from dctv.record import replace
from dctv.signatures.casts import settled
from dctv.signatures.combine import common
from dctv.signatures.types import Type

Made = tuple[Query, Columns | None]

_SERIES = {"range": 0, "generate_series": 1}
"""Table functions that generate numbers, and whether the range includes its end."""
_HIDDEN = "dctv:hidden"


def vetted(query: Query, tables: Mapping[str, Columns | None], gaps: frozenset[str] = frozenset()) -> Query:
    """Return an equivalent query for Spark, written for an engine with some deviations.

    Raises:
        NotOnThisEngine: there is none.
    """
    check(query, gaps)
    lower_tables = {name.lower(): columns for name, columns in tables.items()}
    return _query(query, VettedScope(_query, lower_tables, gaps=gaps))[0]


def _query(node: Query, scope: VettedScope) -> Made:
    assert isinstance(node, q.Select | q.Compound)
    steps, inner = _steps(node, scope)
    made, columns = _select(node, inner) if isinstance(node, q.Select) else _compound(node, inner)
    return replace(made, steps=steps, recursive=False), columns


def _steps(node: q.Select | q.Compound, scope: VettedScope) -> tuple[tuple[q.CommonTable, ...], VettedScope]:
    """Return the steps of a query, which Spark evaluates at each reference, and the scope that includes them."""
    if node.recursive:
        raise refused("a query that reads itself", "not every engine that speaks Spark's SQL has WITH RECURSIVE")
    made = []
    for step in node.steps:
        query, columns = _query(step.query, scope)
        made.append(replace(step, query=query, materialized=None))
        scope = replace(scope, tables={**scope.tables, step.name.lower(): _called(columns, step.columns)})
    return tuple(made), scope


def _called(columns: Columns | None, names: Sequence[str]) -> Columns | None:
    """Rename columns."""
    if columns is None:
        return tuple((name, None) for name in names) or None
    kinds = [kind for _, kind in columns]
    own = [name for name, _ in columns]
    return tuple(zip([*names, *own[len(names) :]], kinds, strict=True))


def _select(node: q.Select, scope: VettedScope) -> tuple[q.Select, Columns | None]:
    inner, source, joins = _sources(node, scope)
    made = [_item(one, inner) for one in node.items]
    columns = _columns(node.items, made, inner)
    results = {one.output.lower(): two.type for one, two in zip(node.items, made, strict=True) if one.output}
    after = replace(inner, results=results)
    written = q.Select(
        tuple(replace(one, value=two.value) for one, two in zip(node.items, made, strict=True)),
        source,
        joins,
        None if node.where is None else condition(node.where, inner),
        _group(node, after),
        None if node.having is None else condition(node.having, after),
        distinct=node.distinct,
        limit=_count(node.limit, scope),
        offset=_count(node.offset, scope),
    )
    if node.qualify is not None:
        return _qualified(node, written, columns, after), columns
    return replace(written, order_by=ordered(_spelled_out(node.order_by, node.items), after)), columns


def _spelled_out(terms: Sequence[e.Ordered], items: Sequence[q.Item]) -> list[e.Ordered]:
    """Name the results that the query sorts by: not every engine accepts their positions."""
    return [replace(term, operand=_placed(term.operand, items)) for term in terms]


def _placed(term: e.Expression, items: Sequence[q.Item]) -> e.Expression:
    """Return the item that a number in ORDER BY or GROUP BY refers to."""
    if not (isinstance(term, e.Number) and term.text.isdecimal()):
        return term
    if any(item.is_star for item in items) or int(term.text) > len(items):
        return term
    item = items[int(term.text) - 1]
    alone = [one.output.lower() for one in items].count(item.output.lower()) == 1
    return e.Column(item.output) if item.output and alone else item.value


def _item(item: q.Item, scope: VettedScope) -> Typed:
    return Typed(item.value, None) if item.is_star else typed(item.value, scope)


def _columns(items: Sequence[q.Item], made: Sequence[Typed], scope: VettedScope) -> Columns | None:
    """Return the columns of a select; None if a star expands to unknown columns."""
    found: list[tuple[str, Type | None]] = []
    for item, one in zip(items, made, strict=True):
        if not isinstance(item.value, e.Star):
            found.append((item.output, None if one.type is None else settled(one.type)))
            continue
        for called, columns in scope.sources:
            if item.value.table is None or item.value.table.lower() == called.lower():
                if columns is None:
                    return None
                found += columns
    return tuple(found)


def _count(node: e.Expression | None, scope: VettedScope) -> e.Expression | None:
    """Write LIMIT or OFFSET."""
    if node is None:
        return None
    if isinstance(node, e.Percent):
        raise refused("LIMIT by percent", "Spark accepts only a number of rows")
    found = integer_of(node)
    return value(node, scope) if found is None else e.Number(str(found))


def _sources(node: q.Select, scope: VettedScope) -> tuple[VettedScope, q.FromItem | None, tuple[q.Join, ...]]:
    """Write the FROM clause of a select, and return the scope of its expressions."""
    inner = replace(scope, sources=())
    beside = scope.beside()
    source, joins = None, []
    if node.source is not None:
        source, vetted_source = _source(node.source, beside)
        inner = replace(inner, sources=(vetted_source,))
    for join in node.joins:
        if join.asof:
            raise refused("an ASOF JOIN", "Spark has none", "use a SPAN JOIN or EVENT JOIN")
        joined, vetted_source = _source(join.source, beside)
        both = replace(inner, sources=(*inner.sources, vetted_source))
        on = None if join.on is None else condition(join.on, both)
        joins.append(q.Join(joined, join.kind, on))
        inner = inner if join.kind in ("SEMI", "ANTI") else both
    return inner, source, tuple(joins)


def _source(node: q.FromItem, scope: VettedScope) -> tuple[q.FromItem, tuple[str, Columns | None]]:
    made, columns = _SOURCES[type(node)](node, scope)
    return made, (node.called, _called(columns, node.columns))


def _table(node: q.TableName, scope: VettedScope) -> tuple[q.FromItem, Columns | None]:
    return node, scope.tables.get(node.name.lower())


def _derived(node: q.Derived, scope: VettedScope) -> tuple[q.FromItem, Columns | None]:
    query, columns = scope.nested(node.query, scope)
    return replace(node, query=query), columns


def _rows(node: q.Rows, scope: VettedScope) -> tuple[q.FromItem, Columns | None]:
    """Write VALUES, with explicit column names, since the default ones differ on Spark."""
    rows = [[typed(one, scope) for one in row] for row in node.rows]
    kinds = [_common([one.type for one in column]) for column in zip(*rows, strict=True)]
    names = node.columns or tuple(f"col{number}" for number in range(len(kinds)))
    brought_rows = tuple(tuple(brought(one, kind) for one, kind in zip(row, kinds, strict=True)) for row in rows)
    alias = node.alias if node.alias is not None else "listed"
    return q.Rows(brought_rows, alias, names), tuple(zip(names, kinds, strict=True))


def _common(types: Sequence[Type | None]) -> Type | None:
    known_types = [settled(one) for one in types if one is not None]
    if len(known_types) < len(types):
        return None
    return common(known_types)


def _table_call(node: q.TableCall, _: VettedScope) -> tuple[q.FromItem, Columns | None]:
    """Write a series of numbers."""
    name = node.call.function
    numbers = [integer_of(one) for one in node.call.arguments]
    bounds = [one for one in numbers if one is not None]
    if name not in _SERIES:
        raise refused(f"`{name}` in FROM", "it has not been vetted")
    if len(bounds) < len(numbers) or not 1 <= len(bounds) <= 3:
        raise refused(f"`{name}` of values that are not literals", "Spark accepts only literals")
    first, last, step = bounds if len(bounds) == 3 else (*([0, *bounds] if len(bounds) == 1 else bounds), 1)
    last += _SERIES[name] if step > 0 else -_SERIES[name]
    if step == 0:
        raise refused(f"`{name}` by steps of 0", "it stops with an error there")
    columns = node.columns or (name,)
    values = tuple(e.Number(str(one)) if one >= 0 else e.Unary("-", e.Number(str(-one))) for one in (first, last, step))
    made = q.TableCall(e.Call("range", values), node.alias or name, columns)
    return made, tuple((one, BIGINT) for one in columns)


_SOURCES: Mapping[type, Callable[[Any, VettedScope], tuple[q.FromItem, Columns | None]]] = {
    q.TableName: _table,
    q.Derived: _derived,
    q.Rows: _rows,
    q.TableCall: _table_call,
}


def _group(node: q.Select, scope: VettedScope) -> q.Group | None:
    group = node.group
    if group is None:
        return None
    if group.all:
        if any(item.is_star for item in node.items):
            raise refused("GROUP BY ALL with a star", "its columns are not known", "name the columns")
        keys = [one.value for one in node.items if not _aggregates(one.value)]
        return q.Group(tuple(value(one, scope) for one in keys)) if keys else None
    return q.Group(
        tuple(_sets(one, scope) if isinstance(one, q.GroupingSets) else value(one, scope) for one in group.keys)
    )


def _aggregates(node: e.Expression) -> bool:
    calls = [one for one in walk.own(node) if isinstance(one, e.Call)]
    names = [NAMES.get(one.function, one.function) for one in calls]
    return any(name in AGGREGATES or name in aggregates.FORMS for name in names)


def _sets(node: q.GroupingSets, scope: VettedScope) -> q.GroupingSets:
    """Write GROUP BY; each set is in parentheses, which some engines require."""
    sets = (tuple(value(one, scope) for one in keys) for keys in node.sets)
    return replace(node, sets=tuple((GroupedBy(keys),) if len(keys) == 1 else keys for keys in sets))


def _qualified(node: q.Select, written: q.Select, columns: Columns | None, scope: VettedScope) -> q.Select:
    """Filter by windows in a select around the one that computes them, since there is no QUALIFY."""
    assert node.qualify is not None
    if columns is None:
        raise refused("QUALIFY with a star", "its columns are not known", "name the columns")
    inner = [f"{_HIDDEN}:{number}" for number in range(len(columns))]
    items = [q.Item(one.value, name) for one, name in zip(_spelled(written.items, scope), inner, strict=True)]
    outer = [q.Item(e.Column(one), name or None) for one, (name, _) in zip(inner, columns, strict=True)]
    test = q.Item(condition(node.qualify, scope), f"{_HIDDEN}:test")
    order, extra = [], []
    for number, term in enumerate(ordered(node.order_by, scope)):
        at = _position(term.operand, items, columns)
        name = f"{_HIDDEN}:order{number}" if at is None else inner[at]
        if at is None:
            extra.append(q.Item(term.operand, name))
        order.append(replace(term, operand=e.Column(name)))
    if extra and node.distinct:
        raise refused("QUALIFY and DISTINCT sorted by an expression that is not a result", "it has not been vetted")
    source = replace(written, items=(*items, test, *extra), distinct=False, limit=None, offset=None)
    return q.Select(
        tuple(outer),
        q.Derived(source, "qualified"),
        where=e.Column(f"{_HIDDEN}:test"),
        distinct=node.distinct,
        order_by=tuple(order),
        limit=written.limit,
        offset=written.offset,
    )


def _spelled(items: Sequence[q.Item], scope: VettedScope) -> list[q.Item]:
    """Expand stars to their columns, which are known."""
    made: list[q.Item] = []
    for item in items:
        if not isinstance(item.value, e.Star):
            made.append(item)
            continue
        for called, columns in scope.sources:
            if item.value.table is None or item.value.table.lower() == called.lower():
                made += [q.Item(e.Column(name, called or None)) for name, _ in columns or ()]
    return made


def _position(term: e.Expression, items: Sequence[q.Item], columns: Columns) -> int | None:
    """Return the position of the result that a query is sorted by."""
    if isinstance(term, e.Number) and term.text.isdecimal():
        return int(term.text) - 1
    for at, (item, (name, _)) in enumerate(zip(items, columns, strict=True)):
        named = isinstance(term, e.Column) and term.table is None and term.name.lower() == name.lower()
        if named or item.value == term:
            return at
    return None


def _compound(node: q.Compound, scope: VettedScope) -> tuple[q.Compound, Columns | None]:
    parts = [_query(one, scope) for one in node.parts]
    column_lists = [columns for _, columns in parts if columns is not None]
    columns = column_lists[0] if len(column_lists) == len(parts) else None
    queries = [query for query, _ in parts]
    if columns is not None:
        kinds = [_common([one[at][1] for one in column_lists]) for at in range(len(columns))]
        queries = [_aligned(query, own, kinds) for query, own in zip(queries, column_lists, strict=True)]
        columns = tuple((name, kind) for (name, _), kind in zip(columns, kinds, strict=True))
    results = {} if columns is None else {name.lower(): kind for name, kind in columns}
    after = replace(scope, sources=(), results=results)
    made = replace(
        node,
        parts=tuple(queries),
        order_by=ordered(node.order_by, after),
        limit=_count(node.limit, scope),
        offset=_count(node.offset, scope),
    )
    return made, columns


def _aligned(query: Query, own: Columns, kinds: Sequence[Type | None]) -> Query:
    """Cast the columns of an operand of a compound to the common types."""
    if all(_alike(one, kind) for (_, one), kind in zip(own, kinds, strict=True)):
        return query
    if isinstance(query, q.Select) and not any(item.is_star for item in query.items):
        items = [
            replace(item, value=brought(Typed(item.value, one), kind), name=item.output or None)
            for item, (_, one), kind in zip(query.items, own, kinds, strict=True)
        ]
        return replace(query, items=tuple(items))
    names = [name.lower() for name, _ in own]
    if len(set(names)) < len(names) or "" in names:
        raise refused("casting unnamed columns to one type", "it has not been vetted")
    values = [brought(Typed(e.Column(name), one), kind) for (name, one), kind in zip(own, kinds, strict=True)]
    items = [q.Item(one, name) for one, (name, _) in zip(values, own, strict=True)]
    return q.Select(tuple(items), q.Derived(query, "part"))


def _alike(own: Type | None, kind: Type | None) -> bool:
    if own is None or kind is None:
        return True
    return brought(Typed(e.Column(""), own), kind) == e.Column("")
