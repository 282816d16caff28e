"""Restore states of aggregates from their parts in Arrow; find the literals that configure aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.plan.build import call
from dctv.plan.expressions import NULL, Boolean, Cast, Expression, List, Number, Struct, Text, Unary
from dctv.signatures.gathered import sets
from dctv.signatures.states import SortKey, settings_of
from dctv.signatures.types import Type


def restored(data: Expression, state: Type) -> Expression:
    """Return the state of an aggregate that is made of data, which may be one already."""
    settings = settings_of(state)
    held, *arguments = state.children
    values = [
        Cast(data, held.text) if data == NULL else data,
        Text(state.names[0]),
        List(tuple(Text(one.text) for one in arguments)),
    ]
    if settings.constants or settings.order:
        values.append(List(tuple(map(literal, settings.constants or (None,) * len(arguments)))))
    if settings.order:
        values.append(List(tuple(map(_sorted_by, settings.order))))
    return call("to_aggregate_state", *values)


def _sorted_by(key: SortKey) -> Expression:
    return Struct(("column", "order"), (Number(str(key.place)), Text(key.order)))


def constants_of(function: str, arguments: Sequence[Expression]) -> tuple[object, ...]:
    """Return the literals that configure an aggregate, as JSON holds them; None for values that it aggregates."""
    return tuple(_constant(one) if sets(function, place) else None for place, one in enumerate(arguments))


def _constant(value: Expression) -> object:
    """Return a literal as JSON holds it, numbers as they are written; None if it is none."""
    match value:
        case Text(text):
            return text
        case Number(text):
            return {"number": text}
        case Unary("-", Number(text)):
            return {"number": f"-{text}"}
        case Boolean(truth):
            return truth
        case List(items):
            parts = [_constant(one) for one in items]
            return None if None in parts else parts
        case _:
            return None


def literal(kept: object) -> Expression:
    """Return the literal that `constants_of` kept."""
    match kept:
        case str():
            return Text(kept)
        case bool():
            return Boolean(kept)
        case list():
            return List(tuple(map(literal, kept)))
        case Mapping():
            text = str(kept["number"])
            return Unary("-", Number(text[1:])) if text.startswith("-") else Number(text)
        case _:
            return NULL
