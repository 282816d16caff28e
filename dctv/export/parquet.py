"""A mounted trace -> a folder of Parquet files, one for each of its tables and of the vocabulary's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dctv.console.sink import file_sink
from dctv.errors import UsageError
from dctv.session import Session
from dctv.writers.parquet import write

VOCABULARY = ("slices", "async_slices", "counters", "instants", "flows", "threads", "processes", "tracks")


def write_folder(session: Session, name: str, folder: Path, check: Callable[[], None]) -> int:
    """Write all tables that have rows; return how many files there are.

    Raises:
        UsageError: the folder is not empty, or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"the folder `{folder}` is not empty")
    except OSError as error:
        raise UsageError(f"cannot write `{folder}`: {(error.strerror or str(error)).lower()}") from None
    stored = [one.name for one in session.tables(name) if one.name.count(".") > 0]
    prefix = f"{name}."
    raw = [one.removeprefix(prefix) for one in stored if one.removeprefix(prefix).startswith("raw_events.")]
    wanted = [*raw, *(one for one in VOCABULARY if f"{prefix}{one}" in stored), "properties", "diagnostics"]
    for table in wanted:
        space, _, last = table.rpartition(".")
        target = folder / space / f"{_safe(last)}.parquet"
        target.parent.mkdir(exist_ok=True)
        with file_sink(target) as sink:
            path = ".".join((name, *([space] if space else []), _quoted(last)))
            write(session.sql(" ".join(("SELECT * FROM", path))), sink.stream)
        check()
    return len(wanted)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _safe(name: str) -> str:
    """Return a name that can be that of a file."""
    kept = "".join(letter if letter.isalnum() or letter in "-_.,+=@ ()" else f"%{ord(letter):02x}" for letter in name)
    return kept.lstrip(".")[:200] or "%"
