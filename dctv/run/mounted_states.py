"""A mounted trace to its state system, made of the changes that the standard library's providers give."""

from __future__ import annotations

from collections.abc import Callable

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog
from dctv.contracts.states import History
from dctv.run import states
from dctv.run.changes import Range, changes_of, in_order
from dctv.run.histories import Options, Recipe, made
from dctv.run.providers import bound, version_of
from dctv.run.result import Result
from dctv.run.state_systems import Means
from dctv.state import StateSystem

STATE = "state"
"""Where providers are in the standard library, and what the state system of a mount is called."""


def offer(catalog: Catalog, mount: Mount, means: Callable[[], Means]) -> None:
    """Put the state system of a mount into the namespace; it is made when it is first read."""
    history = History(lambda: _made(mount, means()))
    states.show(catalog, (*mount.parts, STATE), history)


def _made(mount: Mount, means: Means) -> StateSystem:
    name = ".".join((*mount.parts, STATE))

    def changes(within: Range | None) -> Result:
        with means.deep():
            return means.run(in_order([changes_of(plan, None) for _, plan in bound(mount, STATE, means)], within))

    version = version_of(mount, means)
    options = Options(end=mount.trace.last_ts)
    recipe = Recipe(name, STATE, changes, means.report, means.note, means.spill_folder, options, version)
    system = made(recipe, mount.shelf)
    if not system.attribute_count:
        means.note(f"`{name}` is empty: the trace has nothing that feeds it")
    return system
