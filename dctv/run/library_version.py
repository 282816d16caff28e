"""Identify the behaviour of the standard library's views of a mount, to tell whether what they made is still valid."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b

from dctv import resources
from dctv.catalog.mount import Mount, as_attached
from dctv.catalog.stdlib import library
from dctv.run.context import ExecutionContext


def version_of(mount: Mount, context: ExecutionContext) -> bytes | None:
    """Return a digest of the behaviour of a mount's views; None if the user has changed their possible inputs."""
    if not as_attached(context.catalog, mount, library()):
        return None
    digest = blake2b(_library_digest(), digest_size=32)
    digest.update(f"{mount.offset}".encode())
    return digest.digest()


@cache
def _library_digest() -> bytes:
    """Return a digest of the texts of the standard library: its views are made of each other."""
    root = resources.root() / "stdlib"
    digest = blake2b(digest_size=32)
    for path in sorted(one for one in root.rglob("*") if one.suffix in (".sql", ".toml")):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.digest()
