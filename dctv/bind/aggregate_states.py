"""States of aggregates: `sum(x) EXPORT_STATE` to a state with its type, and calls of functions that take states."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.bind.members import shown
from dctv.bind.types import of_call, settled
from dctv.errors import BindError, EngineError
from dctv.plan import build as w
from dctv.plan.expressions import Call, Cast, Column, Ordered, Star, State
from dctv.plan.node import Node
from dctv.plan.queries import Derived, Item, Select
from dctv.plan.states import constants_of, literal
from dctv.plan.walk import replaced
from dctv.record import replace
from dctv.signatures.gathered import argument_types
from dctv.signatures.states import SortKey, StateSettings, is_state, settings_of, state_type
from dctv.signatures.types import Type, parse
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT

FUNCTIONS = FINALIZE, COMBINE = ("finalize", "combine")
COMBINE_ALL = "combine_aggr"
_WORDS = "EXPORT_STATE"
_made: dict[Select, Type] = {}
"""What states are made of, by the query that has one."""
_WEIGHTED = ("time_avg", "time_sum")
_DISTINCT = "count the distinct values of a select that has them: FROM (SELECT DISTINCT ...)"


def check(expr: ast.Call, *, aggregate: bool) -> None:
    """Refuse EXPORT_STATE of calls without a state.

    Raises:
        BindError: the call is not one of an aggregate, or one of distinct values only.
    """
    name = expr.function.text
    if not aggregate:
        raise BindError(f"`{_WORDS}` belongs to an aggregate, and `{name}` is not one", expr.place)
    if expr.distinct:
        raise BindError(
            f"`{_WORDS}` does not work with DISTINCT: the state does not contain the values", expr.place, hint=_DISTINCT
        )
    if name.lower() == COMBINE_ALL:
        raise BindError(f"`{COMBINE_ALL}` already returns a state, without `{_WORDS}`", expr.place)
    if name.lower() in _WEIGHTED:
        hint = f"time_sum is sum(x * _duration) {_WORDS}, and time_avg that by one of sum(_duration)"
        raise BindError(f"the state of `{name}` cannot be stored", expr.place, hint=hint)


def exported(bound: Bound, arguments: Sequence[Bound], terms: Sequence[Bound], context: ClauseContext) -> Bound:
    """Turn the call of an aggregate into its state.

    Raises:
        BindError: the aggregate has no state that can be kept, or the types of its arguments are not known.
    """
    assert isinstance(bound.value, Call)
    made = _type(bound, [] if [one.value for one in arguments] == [Star()] else arguments, terms, context)
    return replace(bound, value=State(bound.value), type=made, family=None)


def _type(bound: Bound, arguments: Sequence[Bound], terms: Sequence[Bound], context: ClauseContext) -> Type:
    call = bound.value
    assert isinstance(call, Call)
    known_types = [one.type for one in arguments if one.type is not None]
    types = argument_types(call.function, known_types) if len(known_types) == len(arguments) else None
    keys = [settled(one.type) for one in terms]
    known_keys = [one for one in keys if one is not None]
    if types is None or len(known_keys) < len(keys):
        raise BindError(
            f"`{_WORDS}` requires known types for the arguments of `{call.function}`",
            bound.place,
            hint="cast them: x::INT64",
        )
    constants = constants_of(call.function, [one.value for one in arguments])
    columns = [("argument", kind) for kind in types] + [("key", kind) for kind in known_keys]
    names = [f"{kind}{place}" for place, (kind, _) in enumerate(columns)]
    schema = Schema(Kind.REGULAR, tuple(ColumnType(n, t.text) for n, (_, t) in zip(names, columns, strict=True)))
    values = [Column(n) if c is None else literal(c) for n, c in zip(names, constants, strict=False)]
    places = _places(arguments, types, terms)
    sorted_by = tuple(
        replace(one, operand=Column(names[place] if place < len(values) else names[len(values) + number]))
        for number, (one, place) in enumerate(zip(call.order_by, places, strict=True))
    )
    aggregate_state = State(Call(call.function, tuple(values), order_by=sorted_by))
    data = _data(Select((Item(aggregate_state, "state"),), Derived(w.typed_nothing(schema), "none")), context, bound)
    units = tuple(str(one.unit) if one.unit != NO_UNIT else "" for one in (*arguments, *terms))
    order = tuple(SortKey(place, _said(one)) for place, one in zip(places, call.order_by, strict=True))
    if order and not _keeps_rows(data, len({*places, *range(len(values))})):
        order = ()
    return state_type(call.function, data, types, StateSettings(constants, order, units))


def _places(arguments: Sequence[Bound], types: Sequence[Type], terms: Sequence[Bound]) -> list[int]:
    """Return the index of each sort key among the stored values: that of an argument, or one after the arguments.

    Raises:
        BindError: a key may be an argument for the engine, which drops casts that change nothing.
    """
    kept = [one.value if settled(one.type) == kind else None for one, kind in zip(arguments, types, strict=True)]
    values = [one.value for one in arguments]
    found = []
    more = len(kept)
    for term in terms:
        if term.value in kept:
            found.append(kept.index(term.value))
            continue
        alike = [_bare(one) for one, kind in zip(values, types, strict=True) if kind == settled(term.type)]
        if term.value not in values and _bare(term.value) in alike:
            raise BindError(
                f"`{_WORDS}` must sort by the aggregated expression itself",
                term.place,
                hint="sort by the same expression",
            )
        found.append(more)
        more += 1
    return found


def _bare(value: Node) -> Node:
    """Return an expression without its casts."""
    return replaced(value, lambda node: _bare(node.operand) if isinstance(node, Cast) else None)


def _said(key: Ordered) -> str:
    return f"{'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _keeps_rows(data: Type, count: int) -> bool:
    """Whether a state keeps this many values of each row, to sort them at the end."""
    return data.name == "LIST" and data.children[0].name == "STRUCT" and len(data.children[0].children) == count


def _data(query: Select, context: ClauseContext, bound: Bound) -> Type:
    """Ask the engine, once per process, for the structure of an aggregate's states."""
    if query not in _made:
        engine = context.env.engine
        stream = engine.stream(query, {}, serial=False)
        try:
            ((_, kind),) = engine.describe(w.select(w.STAR, source="given"), {"given": stream})
        except EngineError as error:
            raise BindError(_objection(error.message, bound), bound.place, hint=error.hint) from None
        finally:
            stream.close()
        _made[query] = parse(kind)
    return _made[query]


def _objection(message: str, bound: Bound) -> str:
    assert isinstance(bound.value, Call)
    without = "state type callback" in message
    return f"the state of `{bound.value.function}` cannot be stored" if without else message


def state_call(name: str, arguments: Sequence[Bound], expr: ast.Call) -> Bound:
    """Bind a call of one of the two: the value of a state, or the state of all rows of two.

    Raises:
        BindError: the arguments are no states, or not of one aggregate.
    """
    return (_finalized if name == FINALIZE else _combined)(arguments, expr)


def _finalized(arguments: Sequence[Bound], expr: ast.Call) -> Bound:
    (state,) = _states(arguments, expr, 1)
    assert state.type is not None
    function, _ = state.type.names
    made = of_call(function, state.type.children[1:]) if not settings_of(state.type).constants else None
    value = w.call(FINALIZE, state.value)
    return Bound(value, state.unit, expr.place, parts=(state,), type=made)


def _combined(arguments: Sequence[Bound], expr: ast.Call) -> Bound:
    one, other = _states(arguments, expr, 2)
    if one.type != other.type or one.unit != other.unit:
        first, second = _state_text(one), _state_text(other)
        unlike = first != second
        found = f"{first} and {second}" if unlike else f"two of {first} that differ in units, constants or ORDER BY"
        raise BindError(f"`{COMBINE}` takes two states of one aggregate, found {found}", other.place)
    value = w.call(COMBINE, one.value, other.value)
    return Bound(value, one.unit, expr.place, parts=(one, other), type=one.type)


def _states(arguments: Sequence[Bound], expr: ast.Call, count: int) -> Sequence[Bound]:
    name = expr.function.text.lower()
    if expr.over is not None or expr.filter is not None or expr.distinct or expr.order_by or expr.keywords:
        raise BindError(f"`{name}` takes states of aggregates, and nothing else", expr.place)
    if len(arguments) != count:
        raise BindError(
            f"`{name}` takes {'a state' if count == 1 else 'two states'}, found {len(arguments)}", expr.place
        )
    refuse_others(arguments, name)
    return arguments


def refuse_others(arguments: Sequence[Bound], name: str) -> None:
    """Refuse arguments that are no states of a known aggregate.

    Raises:
        BindError: one of them is none.
    """
    for one in arguments:
        if one.type is None or not is_state(one.type) or not one.type.children:
            found = shown(one.type)
            hint = f"sum(x) {_WORDS} gives one"
            raise BindError(f"`{name}` takes the state of an aggregate, found {found}", one.place, hint=hint)


def _state_text(state: Bound) -> str:
    text = shown(state.type)
    return text if state.unit == NO_UNIT else f"{text} in `{state.unit}`"
