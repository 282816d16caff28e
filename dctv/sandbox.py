"""Open a database in memory that can access only some folders and files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.patterns import pattern

if TYPE_CHECKING:
    import duckdb

_CLOSED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_CHANGEABLE = ("enable_profiling", "max_memory", "threads")
"""Settings that are changed while the database runs."""


def sandboxed(
    config: Mapping[str, Any], folders: Iterable[Path] = (), files: Iterable[Path] = (), zone: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Return a connection that may read some folders and files, and spill; all other access is refused.

    Its time zone is the machine's unless there is another.

    Raises:
        duckdb.Error: the configuration is not understood.
    """
    import duckdb  # heavy; only needed for queries

    connection = duckdb.connect(":memory:", config={**config, **_CLOSED})
    connection.execute(f"SET allowed_directories = [{_listed(folders)}]")
    connection.execute(f"SET allowed_paths = [{_listed(files)}]")
    if zone is not None:
        connection.execute(f"SET TimeZone = {_text(zone)}")
    connection.execute(f"SET allowed_configs = [{', '.join(map(_text, _CHANGEABLE))}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


_SPECIAL = pattern(r"[*?\[]")


def escaped(path: str) -> str:
    """Return a pattern that matches only this path."""
    return _SPECIAL.sub(r"[\g<0>]", path)


def _listed(paths: Iterable[Path]) -> str:
    """Write paths literally, and as the patterns that match them."""
    whole = [str(path.absolute()) for path in paths]
    return ", ".join(map(_text, dict.fromkeys(form for path in whole for form in (path, escaped(path)))))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
