"""The tables of the state system and the timeline of every mounted trace, which a fleet has of all its traces."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.lazy import Lazy
from dctv.contracts.states import History
from dctv.errors import WarningLog
from dctv.run import states, tracks
from dctv.run.mounted_states import STATE
from dctv.state import StateSystem
from dctv.timeline.timeline import Timeline


def tables() -> Mapping[tuple[str, ...], str]:
    """Return their names below a mount, with their documentation."""
    shown = Catalog()
    # Only their names are used: each trace makes its own.
    states.show(shown, (STATE,), History.of(StateSystem.in_memory()), WarningLog())
    tracks.show(shown, (), Lazy.of(Timeline()), "the tracks of each trace's timeline, as a tree")
    return {name: entry.doc for name, entry in shown.root.walk() if isinstance(entry, StoredTable)}
