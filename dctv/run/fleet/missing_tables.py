"""Find the tables of a fleet that are empty in every trace, since the traces lack the events."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.errors import DctvError
from dctv.run.fleet.fleet import Fleet
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import mounted
from dctv.run.missing_events import lacking

_MOST = 4
"""The maximum number of traces to mount for this; if they differ more, no table is known to be empty."""


def lacking_in(fleet: Fleet, names: Sequence[str]) -> set[str]:
    """Return those of the full names whose views have no rows in any trace of the fleet.

    A trace with more tables has all that one with fewer of them has, so those with most are asked.
    """
    asked = _richest(fleet)
    if len(asked) > _MOST:
        return set()
    without: set[str] = set()
    having: set[str] = set()
    for member in asked:
        try:
            with mounted(member, fleet.way, fleet.context) as (alone, _):
                known = [name for name in names if alone.catalog.find(tuple(name.split("."))) is not None]
                found = lacking(known, alone)
        except DctvError:
            return set()
        without |= found
        having |= set(known) - found
    return without - having


def _richest(fleet: Fleet) -> list[FleetMember]:
    """Return a trace for each set of tables that no other trace of its format has more than."""
    sets: dict[tuple[str, frozenset[str]], FleetMember] = {}
    for member in fleet.members:
        metadata = fleet.metadata[member.name]
        sets.setdefault((metadata.format, frozenset(metadata.tables)), member)
    return [
        member
        for (kind, tables), member in sets.items()
        if not any(kind == other and tables < more for other, more in sets)
    ]
