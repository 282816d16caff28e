"""States of aggregates: the type of a text like `sum(x) EXPORT_STATE`, and its settings."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dctv.record import record
from dctv.signatures.types import STATE, Type, state_of


@record
class SortKey:
    """One key of `list(x ORDER BY y)`: which of the values that a state keeps it is, and how they are sorted."""

    place: int
    order: str


@record
class StateSettings:
    """The identity of states besides the function and the types of its arguments."""

    constants: tuple[object, ...] = ()
    """For each argument its literal, as JSON holds it, or None if its value varies by row."""
    order: tuple[SortKey, ...] = ()
    units: tuple[str, ...] = ()
    """Units of the arguments and sort keys, if any has one: a state over ms cannot be merged with one over seconds."""


def state_type(function: str, data: Type, arguments: Sequence[Type], settings: StateSettings) -> Type:
    """Return the type of an aggregate's states, which are made of data of another type."""
    all_settings = {
        "constants": settings.constants if any(one is not None for one in settings.constants) else (),
        "order": [[one.place, one.order] for one in settings.order],
        "units": settings.units if any(settings.units) else (),
    }
    non_empty = {key: value for key, value in all_settings.items() if value}
    return state_of(function, (data, *arguments), json.dumps(non_empty, ensure_ascii=False) if non_empty else "")


def settings_of(state: Type) -> StateSettings:
    """Return the settings that distinguish a state's type from others of its function."""
    _, text = state.names
    settings = json.loads(text) if text else {}
    return StateSettings(
        tuple(settings.get("constants", ())),
        tuple(SortKey(place, order) for place, order in settings.get("order", ())),
        tuple(settings.get("units", ())),
    )


def is_state(found: Type | None) -> bool:
    """Whether values of a type are states of an aggregate."""
    return found is not None and found.name == STATE


def holds_states(found: Type) -> bool:
    """Whether states are within values of a type."""
    return any(is_state(child) or holds_states(child) for child in found.children) and not is_state(found)
