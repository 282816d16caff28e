"""The names of result columns that other clauses of a select may use."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.spellings import fitting, value_of
from dctv.errors import BindError, Place


class ResultNames:
    """Result columns by name.

    Two of one name with different values are allowed, but may not be named: engines differ in which of them is meant.
    """

    def __init__(self, named: Sequence[tuple[str, Bound]] = ()) -> None:
        self._bounds: dict[str, list[Bound]] = {}
        for name, bound in named:
            self.add(name, bound)

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def add(self, name: str, bound: Bound) -> None:
        """Make a result column known under a name."""
        self._bounds.setdefault(name, []).append(bound)

    def find(self, name: str, place: Place | None) -> Bound | None:
        """Return the result column that a name means; None if there is none.

        Raises:
            BindError: the name fits several.
        """
        found = value_of(self._bounds, name, place)
        if found is None:
            return None
        if any(one.value != found[0].value for one in found):
            raise ambiguous(name, len(found), place)
        return found[0]


def position_of(named: Sequence[tuple[str, Bound]], name: str, place: Place | None) -> int | None:
    """Return which result column a name means, from 0; None if there is none, or if it has several spellings.

    Raises:
        BindError: the name fits several of one spelling.
    """
    found = fitting([one for one, _ in named], name)
    if not found or len({named[index][0] for index in found}) > 1:
        return None
    if any(named[index][1].value != named[found[0]][1].value for index in found):
        raise ambiguous(name, len(found), place)
    return found[0]


def ambiguous(name: str, count: int, place: Place | None) -> BindError:
    """Return the error for a name that several result columns have."""
    return BindError(
        f"`{name}` is ambiguous: {count} columns of the result have the name",
        place,
        hint="give one of them another name with AS",
    )
