"""Ask the engine for types that the binder does not know where units are at stake: such a value may be an INTERVAL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dctv.bind import relations
from dctv.bind.bound import Bound
from dctv.bind.context import BoundQuery, ClauseContext, Environment, Leaves
from dctv.bind.grouping import parts_of
from dctv.bind.scope import Scope, ScopeColumn
from dctv.bind.types import BIGINT, settled
from dctv.bind.unnesting import takes_unnest
from dctv.errors import EngineError
from dctv.plan import walk
from dctv.plan.build import named
from dctv.plan.expressions import NULL, Call, Cast, Column, Exists, Expression, InQuery, Row, StartOf, Subquery
from dctv.plan.node import Node
from dctv.plan.queries import Derived, Item, Select
from dctv.record import replace
from dctv.signatures.types import Type, parse
from dctv.types.unit import NO_UNIT

_GIVEN = (Column, Subquery, Exists, InQuery)
"""What the engine is told the types of, since it is asked without the tables that these are of."""
_STAND_IN = "#given"
"""The table of columns that stand in for them; no query has one of this name."""


def typed_beside_units(bounds: Sequence[Bound], context: ClauseContext) -> list[Bound]:
    """Return operands, all with types if one of them has a unit and the engine knows the types."""
    return [typed(one, context) for one in bounds] if any(map(_has_unit, bounds)) else list(bounds)


def typed(bound: Bound, context: ClauseContext) -> Bound:
    """Return a value with its type, if the engine knows it."""
    if isinstance(bound.value, Row):
        return replace(bound, parts=tuple(typed(one, context) for one in bound.parts))
    if bound.type is not None or bound.fits_all:
        return bound
    made = _asked(bound, context)
    if made is None:
        return bound
    return replace(bound, type=made, parts=(bound,) if isinstance(bound.value, Subquery) else bound.parts)


def typed_results(query: BoundQuery, other: BoundQuery, leaves: Leaves, env: Environment) -> BoundQuery:
    """Return a query whose results have types, if one of them meets a unit where rows of another are added to it."""
    pairs = zip(query.outs, other.outs, strict=False)
    if all(a.type is not None or a.any_unit or a.unit != NO_UNIT or b.unit == NO_UNIT for a, b in pairs):
        return query
    try:
        types = relations.types_of(query.query, leaves.all(), env)
    except EngineError:
        return query
    if len(types) != len(query.outs):
        return query
    outs = [replace(a, type=a.type or parse(kind)) for a, kind in zip(query.outs, types, strict=True)]
    return replace(query, outs=tuple(outs))


def _has_unit(bound: Bound) -> bool:
    return any(map(_has_unit, bound.parts)) if isinstance(bound.value, Row) else bound.unit != NO_UNIT


def _asked(bound: Bound, context: ClauseContext) -> Type | None:
    given = _given(bound, context)
    names = {value: f"c{place}" for place, value in enumerate(given)}
    asked = walk.replaced(bound.value, lambda node: _stand_in(node, names))
    if not all(_is_askable(node, context) for node in walk.own(asked)):
        return None
    columns = [Cast(NULL, one.text) for one in given.values()]
    source = Derived(Select(tuple(named(columns, names.values()))), _STAND_IN) if given else None
    leaves = context.leaves.all() if walk.nested(asked) else ()
    try:
        (found,) = relations.types_of(Select((Item(asked),), source), leaves, context.env)
    except (EngineError, ValueError):
        return None
    return parse(found)


def _given(bound: Bound, context: ClauseContext) -> dict[Expression, Type]:
    """Return the parts of known types; queries within may name the columns of all selects around them."""
    known: list[tuple[Expression, Type | None]] = [
        (one.value, one.type) for one in parts_of([bound]) if isinstance(one.value, _GIVEN)
    ]
    if walk.nested(bound.value):
        known += [(one.value, one.type) for one in _columns(context.scope)]
    used = set(walk.walk(bound.value))
    types = ((value, settled(kind)) for value, kind in known if value in used)
    return {value: kind for value, kind in types if kind is not None}


def _columns(scope: Scope | None) -> Iterator[ScopeColumn]:
    while scope is not None:
        yield from scope.columns()
        scope = scope.parent


def _stand_in(node: Node, names: Mapping[Expression, str]) -> Node | None:
    if isinstance(node, StartOf):
        return Cast(NULL, BIGINT.text)
    return Column(names[node], _STAND_IN) if isinstance(node, Expression) and node in names else None


def _is_askable(node: Node, context: ClauseContext) -> bool:
    """Whether the engine can be asked for the type of something with a node: not where it decides by the place."""
    if isinstance(node, Column):
        return node.table == _STAND_IN
    return not (isinstance(node, Call) and node.function == "unnest") or takes_unnest(context)
