"""Make the state system of a mounted trace from the changes of the standard library's providers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dctv.catalog.mount import Mount
from dctv.contracts.states import History
from dctv.run import states
from dctv.run.changes import Range, changes_of, in_order
from dctv.run.context import ExecutionContext
from dctv.run.histories import Options, Recipe, open_or_build
from dctv.run.library_version import version_of
from dctv.run.merging import merged
from dctv.run.providers import Providers
from dctv.run.recursion import deep_recursion
from dctv.state import StateSystem

STATE = "state"
"""The namespace of providers in the standard library, and the name of a mount's state system."""


def offer(mount: Mount, context: ExecutionContext) -> None:
    """Put the state system of a mount into the namespace; it is made when it is first read."""
    history = History(lambda: _made(mount, context), context.log)
    states.show(context.catalog, (*mount.parts, STATE), history, context.log)


def _made(mount: Mount, context: ExecutionContext) -> StateSystem:
    name = ".".join((*mount.parts, STATE))

    def changes(within: Range | None) -> Iterator[Any]:
        with deep_recursion():
            providers = Providers(STATE, mount, context)
            found = providers.bound()
            changes = in_order([changes_of(plan, None) for _, plan in found], within)
            # A provider's changes have columns for the values of the others, too, so its plan depends on these.
            results = [
                providers.result((module.parts, one.schema.names, within), one)
                for (module, _), one in zip(found, changes, strict=True)
            ]
            # One sort of all would hold the rows of all providers at once.
            return merged([one.batches() for one in results])

    version = version_of(mount, context)
    options = Options(start=min(mount.offset, 0), end=mount.trace.last_ts)
    recipe = Recipe(name, STATE, changes, context, options, version)
    system = open_or_build(recipe, mount.history_store)
    if not system.attribute_count:
        context.log.add(f"`{name}` is empty: the trace has nothing to compute it from")
    return system
