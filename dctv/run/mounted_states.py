"""A mounted trace to its state system, made of the changes that the standard library's providers give."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import blake2b

from dctv import resources
from dctv.catalog.mount import Mount, as_attached
from dctv.catalog.namespace import Catalog
from dctv.catalog.stdlib import library
from dctv.contracts.states import History
from dctv.run import states
from dctv.run.changes import Range, changes_of, in_order
from dctv.run.histories import Options, Recipe, made
from dctv.run.providers import bound
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

    version = _version(mount) if as_attached(means.catalog, mount, library()) else None
    options = Options(end=mount.trace.last_ts)
    recipe = Recipe(name, STATE, changes, means.report, means.note, options, version)
    system = made(recipe, mount.shelf)
    if not system.attribute_count:
        means.note(f"`{name}` is empty: the trace has nothing that feeds it")
    return system


def _version(mount: Mount) -> bytes:
    digest = blake2b(_library_digest(), digest_size=32)
    digest.update(f"{mount.offset}".encode())
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
