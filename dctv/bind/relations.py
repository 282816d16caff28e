"""Make relational plans of bound queries; ask the engine for types that are unknown, and for the place of errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from dctv.bind.bound import Bound, with_macro
from dctv.bind.context import BoundColumn, BoundQuery, Environment, Leaves
from dctv.bind.grouping import parts_of
from dctv.contracts.engine import EXACT_ON_INTEGERS, ORDER_FREE
from dctv.errors import BindError, EngineError, Place
from dctv.plan import walk
from dctv.plan.build import STAR, typed_nothing
from dctv.plan.canonical_text import shape
from dctv.plan.expressions import Call, Cast, Column, Exists, Expression, InQuery, Subquery, Window
from dctv.plan.node import Query
from dctv.plan.nodes import Plan, Relation, unique_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import CommonTable, Derived, Item, Select, TableCall, TableName
from dctv.signatures.carried import WIDE
from dctv.signatures.states import holds_states
from dctv.signatures.types import STATE, parse
from dctv.types.schema import ColumnType, Kind, Schema

_MOST_KNOWN = 10_000
_known: dict[bytes, list[str]] = {}
"""Types of columns by what query they are of."""


def with_leaves(query: Query, leaves: Iterable[tuple[str, Plan]]) -> Select:
    """Stand empty tables in for the leaves of a query."""
    steps = tuple(CommonTable(name, typed_nothing(plan.schema)) for name, plan in leaves)
    return Select((STAR,), Derived(query, "q"), steps=steps)


def names_of(outs: Sequence[BoundColumn]) -> list[str]:
    """Return the engine's names of result columns."""
    return unique_names(out.name for out in outs)


def relation(query: BoundQuery, leaves: Leaves, env: Environment, place: Place | None, order: RowOrder) -> Relation:
    """Make a regular table of a bound query; integers that only the engine made wide are brought back to 64 bits."""
    used = leaves.all()
    types = _types(query, used, env, place)
    if len(types) != len(query.outs):
        raise _of_structs(query, place)
    _refuse_states(query, types, place)
    written = query.query
    narrow = [t in WIDE and not out.wide for t, out in zip(types, query.outs, strict=True)]
    if any(narrow):
        written = _narrow(query, narrow)
        types = ["BIGINT" if cut else t for t, cut in zip(types, narrow, strict=True)]
    columns = tuple(ColumnType(o.name, t, o.unit) for o, t in zip(query.outs, types, strict=True))
    schema = Schema(Kind.REGULAR, columns)
    serial = query.serial if query.sure else _is_serial(query, used, env)
    return Relation(schema, order, written, used, serial)


def _refuse_states(query: BoundQuery, types: Sequence[str], place: Place | None) -> None:
    """Refuse columns of states whose aggregate is unknown, or that are inside lists."""
    for out, kind in zip(query.outs, types, strict=True):
        if STATE in kind and (kind == STATE or holds_states(parse(kind))):
            raise BindError(
                f"`{out.name}` has states of several aggregates, or states within something else",
                place,
                hint="a column has states of one aggregate, of values of one type; finalize(s) gives the value",
            )


def _of_structs(query: BoundQuery, place: Place | None) -> BindError:
    """Return the error for `unnest`, the one function that makes several columns."""
    calls = (one for one in parts_of(query.parts) if isinstance(one.value, Call) and one.value.function == "unnest")
    found = next(calls, None)
    return BindError(
        "`unnest` of structs makes a column of each member",
        place if found is None else found.place,
        hint="take the members one by one, such as s.name, and unnest lists only down to the structs",
    )


def _known_types(query: BoundQuery) -> list[str] | None:
    """Return the types of a query's columns if they are known without the engine."""
    types = [out.type.text for out in query.outs if out.type is not None]
    return types if query.sure and len(types) == len(query.outs) else None


def _types(query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment, place: Place | None) -> list[str]:
    known_types = _known_types(query)
    if known_types is not None:
        return known_types
    try:
        described = types_of(query.query, leaves, env)
        # The engine does not say of what aggregate a state is.
        return [
            kind if kind != STATE or out.type is None else out.type.text
            for kind, out in zip(described, query.outs, strict=False)
        ]
    except EngineError as error:
        varying = query.ungrouped
        # Of other expressions than columns the engine may have thought better than we do.
        if varying is not None and varying.place is not None and isinstance(varying.value, Column):
            raise _not_grouped(varying.place) from None
        if varying is not None and isinstance(varying.value, Subquery | Exists | InQuery):
            raise BindError(
                "a subquery reads columns of the surrounding query that are not grouped",
                varying.place,
                hint="add them to GROUP BY, or read a grouped query in FROM",
            ) from None
        guilty = _guilty(query, leaves, env)
        if guilty is None:
            raise BindError(error.message, place, hint=error.hint) from None
        raise BindError(with_macro(guilty.macro, error.message), guilty.place or place, hint=error.hint) from None


def _not_grouped(place: Place) -> BindError:
    if place.text.endswith("*"):
        hint = "list the columns to group by, and aggregates, in its place"
    else:
        hint = f"write any_value({place.text}), or add it to GROUP BY"
    return BindError(f"`{place.text}` is neither grouped nor inside an aggregate", place, hint=hint)


def types_of(query: Query, leaves: Sequence[tuple[str, Plan]], env: Environment) -> list[str]:
    """Return the types of a query's columns; the engine is asked once per process.

    They follow from the query and the types of its leaves alone, unless it calls a table function: of a file, say.
    """
    tables = [node for node in walk.walk(query) if isinstance(node, TableName | TableCall | CommonTable)]
    own = {name for name, _ in leaves} | {one.name for one in tables if isinstance(one, CommonTable)}
    lasting = all(not isinstance(one, TableCall) and one.name in own for one in tables)
    columns = [(name, [(c.name, c.type) for c in plan.schema.columns]) for name, plan in leaves]
    key = blake2b(f"{shape(query)}\0{columns!r}".encode("utf-8", "surrogatepass"), digest_size=20).digest()
    if lasting and key in _known:
        return _known[key]
    described = env.engine.describe(with_leaves(query, leaves))
    types = [type_name for _, type_name in described]
    if lasting:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = types
    return types


def _guilty(query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment) -> Bound | None:
    """Return the smallest expression that the engine refuses by itself."""

    def refused(bound: Bound) -> bool:
        try:
            types_of(Select((Item(bound.value),), query.source, query.joins), leaves, env)
        except EngineError:
            return True
        return False

    def search(parts: Sequence[Bound]) -> Bound | None:
        for part in parts:
            if refused(part):
                inner = search(part.parts)
                return part if inner is None or inner.place is None else inner
        return None

    return search(query.parts)


def _narrow(query: BoundQuery, narrow: list[bool]) -> Query:
    """Cast sums of integers, which the engine widens to 128 bits, back to 64; too large ones are an error."""
    items = []
    for name, cut in zip(names_of(query.outs), narrow, strict=True):
        column = Column(name)
        items.append(Item(Cast(column, "BIGINT") if cut else column, name))
    return Select(tuple(items), Derived(query.query, "wide"))


def _is_serial(query: BoundQuery, leaves: Sequence[tuple[str, Plan]], env: Environment) -> bool:
    """Whether values of a query depend on the order in which the engine processes its rows."""
    nodes = list(walk.walk(query.query))
    if any(isinstance(node, Window) for node in nodes):
        return True
    calls = [node for node in nodes if isinstance(node, Call)]
    kinds = env.engine.functions() if calls else {}
    sums: list[Expression] = []
    for call in calls:
        if kinds.get(call.function) != "aggregate" or call.function in ORDER_FREE:
            continue
        if call.function not in EXACT_ON_INTEGERS:
            return True
        if not call.distinct and not call.order_by:
            sums += call.arguments
    if not sums:
        return False
    probe = tuple(Item(s, f"s{i}") for i, s in enumerate(sums))
    try:
        described = types_of(Select(probe, query.source, query.joins), leaves, env)
    except EngineError:
        return True
    return any(t in ("DOUBLE", "FLOAT") for t in described)
