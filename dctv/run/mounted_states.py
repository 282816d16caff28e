"""A mounted trace to its state system, made of the changes that the standard library's providers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from hashlib import blake2b

from dctv import resources
from dctv.bind.binder import Binder
from dctv.bind.parts import Feeds
from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog, View
from dctv.catalog.stdlib import Library, Module
from dctv.contracts.histories import Shelf
from dctv.contracts.states import History
from dctv.plan.nodes import Plan
from dctv.record import record
from dctv.run import histories, states
from dctv.run.changes import Changes, Range, changes_of, in_order
from dctv.run.histories import Recipe, Report
from dctv.run.result import Result
from dctv.state import StateSystem

STATE = "state"
"""Where providers are in the standard library, and what the state system of a mount is called."""


@record
class Means:
    """What a state system of a mount is made with."""

    catalog: Catalog
    library: Library
    binder: Callable[[], Binder]
    run: Callable[[Plan], Result]
    report: Report
    note: Callable[[str], None]
    deep: Callable[[], AbstractContextManager[None]]
    """Lets long texts be bound."""


def offer(mount: Mount, shelf: Shelf | None, means: Means) -> None:
    """Put the state system of a mount into the namespace; it is made when it is first read."""
    modules = [m for m in means.library.modules if m.parts[0] == STATE and m.covers(mount.trace.format or mount.reader)]
    history = History(lambda: _made(mount, modules, shelf, means))
    states.show(means.catalog, (*mount.parts, STATE), history)


def _made(mount: Mount, modules: Sequence[Module], shelf: Shelf | None, means: Means) -> StateSystem:
    name = ".".join((*mount.parts, STATE))

    def changes(within: Range | None) -> Result:
        with means.deep():
            return means.run(in_order(_sources(mount, modules, means), within))

    version = _version(mount) if _untouched(mount, means) else None
    recipe = Recipe(name, STATE, changes, mount.trace.last_ts, means.report, means.note, version)
    return histories.made(recipe, shelf)


def _sources(mount: Mount, modules: Sequence[Module], means: Means) -> list[Changes]:
    """Bind the providers; those of which the trace has nothing are left out."""
    found = []
    for module in modules:
        binder, feeds = means.binder(), Feeds()
        inside = binder.copy(home=mount.parts, feeds=feeds, within=True)
        plan = inside.plan(module.select())
        if not feeds.lacking:
            found.append(changes_of(plan, None))
    if not found:
        means.note(f"`{'.'.join((*mount.parts, STATE))}` is empty: the trace has nothing that feeds it")
    return found


def _version(mount: Mount) -> bytes:
    digest = blake2b(_library_digest(), digest_size=32)
    digest.update(f"{mount.offset} {mount.trace.last_ts}".encode())
    return digest.digest()


@cache
def _library_digest() -> bytes:
    """Return what changes with every text of the standard library: providers are made of its views."""
    root = resources.root() / "stdlib"
    digest = blake2b(digest_size=32)
    for path in sorted(one for one in root.rglob("*") if one.suffix in (".sql", ".toml")):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.digest()


def _untouched(mount: Mount, means: Means) -> bool:
    """Whether the views below a mount are those of the standard library: providers may read any of them."""
    for module in means.library.modules:
        if module.parameters or not module.covers(mount.trace.format or mount.reader):
            continue
        found = means.catalog.find((*mount.parts, *module.parts))
        if found is None or not isinstance(found[0], View) or found[0].select != module.select:
            return False
    return True
