"""Turns the files of a trace into the folder that holds their index and column store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dctv.errors import UsageError
from dctv.record import record

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b  # The same; it loads OpenSSL too.

INDEX = "trace.idx"
"""The index's name in its folder."""

FLEETS = "fleets"
"""The folder beside those of indexes for what is known of traces that are mounted as one."""

_SHORT = 12
"""Digits of the key in a folder's name that a person is to read."""


@record
class Subject:
    """What an index is of."""

    paths: tuple[Path, ...]
    """Resolved."""
    reader: str
    options: str
    """As JSON, sorted by name."""

    @property
    def key(self) -> str:
        """A name for it that no other trace has."""
        digest = blake2b(digest_size=16)
        for part in (self.reader, self.options, *map(str, self.paths)):
            raw = os.fsencode(part)
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
        return digest.hexdigest()


def subject(paths: Sequence[Path], reader: str, options: Mapping[str, object]) -> Subject:
    """Describe a trace; options that change nothing but their order make no other subject."""
    return Subject(
        tuple(Path(os.path.realpath(p)) for p in paths), reader, json.dumps(options, sort_keys=True, default=str)
    )


def configured_folder(index_dir: str | Path | None) -> Path | None:
    """Return the folder to keep indexes in, as given or set by DCTV_INDEX_DIR; None is the cache."""
    folder = index_dir or os.environ.get("DCTV_INDEX_DIR")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the default folder of indexes.

    Raises:
        UsageError: neither XDG_CACHE_HOME nor HOME tells where it is.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore relative paths.
    if base.is_absolute():
        return base / "dctv" / "index"
    try:
        return Path.home() / ".cache" / "dctv" / "index"
    except RuntimeError:
        raise UsageError("found no folder for indexes", hint="set XDG_CACHE_HOME, or give --index-dir") from None


def index_folder(about: Subject, index_dir: Path | None = None) -> Path:
    """Return the folder of a trace's index, below `index_dir` if given; it need not be there.

    Raises:
        UsageError: there is no folder for caches.
    """
    if index_dir is None:
        return cache_folder() / about.key
    return index_dir.expanduser().absolute() / f"{_readable(about.paths)}-{about.key[:_SHORT]}"


def _readable(paths: Sequence[Path]) -> str:
    """Return the name of the only file, or of the folder that holds all, of characters that are safe in any path."""
    if len(paths) == 1:
        name = paths[0].name
    else:
        name = Path(os.path.commonpath([path.parent for path in paths])).name if paths else ""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80].lstrip(".-") or "trace"
