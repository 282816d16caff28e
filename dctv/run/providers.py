"""The standard library's providers of a mounted trace: views that its state system or timeline is computed from."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from dctv import resources
from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.mount import Mount, as_attached
from dctv.catalog.stdlib import LibraryModule, library
from dctv.plan.nodes import Plan
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment


def bound(mount: Mount, folder: str, context: ExecutionContext) -> list[tuple[LibraryModule, Plan]]:
    """Bind the providers in a folder of the standard library, without those that are empty for the trace."""
    reader = mount.trace.format or mount.reader
    found = []
    for module in library().modules:
        if module.parts[0] == folder and module.covers(reader):
            dependencies = Dependencies()
            inside = Binder(environment(context)).copy(home=mount.parts, dependencies=dependencies, within=True)
            plan = inside.plan(module.select())
            if not dependencies.lacking:
                found.append((module, plan))
    return found


def version_of(mount: Mount, context: ExecutionContext) -> bytes | None:
    """Return a digest of the behaviour of a mount's providers; None if the user has changed their possible inputs."""
    if not as_attached(context.catalog, mount, library()):
        return None
    digest = blake2b(_library_digest(), digest_size=32)
    digest.update(f"{mount.offset}".encode())
    return digest.digest()


@cache
def _library_digest() -> bytes:
    """Return a digest of the texts of the standard library: providers are made of its views."""
    root = resources.root() / "stdlib"
    digest = blake2b(digest_size=32)
    for path in sorted(one for one in root.rglob("*") if one.suffix in (".sql", ".toml")):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.digest()
