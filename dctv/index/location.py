"""Map the files of a trace to the folder of their index and column store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dctv.errors import UsageError
from dctv.home import expanded
from dctv.record import record

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b  # The same function; this module also loads OpenSSL.

INDEX = "trace.idx"
"""The name of the index file."""

FLEETS = "fleets"
"""The folder for cached facts about fleets, beside those of indexes."""

_SHORT = 12
"""Digits of the key in a folder's name, few enough to read."""


@record
class Subject:
    """The subject of an index: files, reader and options."""

    paths: tuple[Path, ...]
    """Resolved."""
    reader: str
    options: str
    """As JSON, sorted by name."""

    @property
    def key(self) -> str:
        """A unique name of the trace."""
        digest = blake2b(digest_size=16)
        for part in (self.reader, self.options, *map(str, self.paths)):
            raw = os.fsencode(part)
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
        return digest.hexdigest()


def subject(paths: Sequence[Path], reader: str, options: Mapping[str, object]) -> Subject:
    """Describe a trace; the order of options does not matter."""
    return Subject(
        tuple(Path(os.path.realpath(p)) for p in paths), reader, json.dumps(options, sort_keys=True, default=str)
    )


def configured_folder(index_dir: str | Path | None) -> Path | None:
    """Return the folder to keep indexes in, as given or set by DCTV_INDEX_DIR; None is the cache.

    Raises:
        UsageError: it is in the home of a user that does not exist.
    """
    folder = index_dir or os.environ.get("DCTV_INDEX_DIR")
    return expanded(folder) if folder else None


def cache_folder() -> Path:
    """Return the default folder of indexes.

    Raises:
        UsageError: neither XDG_CACHE_HOME nor HOME is set.
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
    """Return the folder of a trace's index, below `index_dir` if given; it may not exist.

    Raises:
        UsageError: there is no folder for caches.
    """
    if index_dir is None:
        return cache_folder() / about.key
    return expanded(index_dir).absolute() / f"{_readable(about.paths)}-{about.key[:_SHORT]}"


def _readable(paths: Sequence[Path]) -> str:
    """Return the name of the only file, or of the common folder, in characters that are safe in any path."""
    if len(paths) == 1:
        name = paths[0].name
    else:
        name = Path(os.path.commonpath([path.parent for path in paths])).name if paths else ""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80].lstrip(".-") or "trace"
