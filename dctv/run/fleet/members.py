"""Find the traces of a fleet by a pattern and a manifest, each with its name and values of the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import stat_result
from pathlib import Path
from stat import S_ISDIR

from dctv.catalog.files import matching
from dctv.errors import DctvError, Interrupted, TraceError
from dctv.home import expanded
from dctv.plan import fleets
from dctv.plan import predicate as p
from dctv.plan.expressions import NULL, Cast, Expression, OfTrace, Text
from dctv.record import record
from dctv.run.fleet.manifest import Manifest, Value
from dctv.types.schema import ColumnType

TRACE = ColumnType(fleets.TRACE, "VARCHAR")
"""The column that identifies a row's trace."""


@record
class FleetMember:
    """One trace of a fleet."""

    name: str
    """Its path as the pattern gives it."""
    path: str
    """Its absolute path."""
    manifest: Mapping[str, Value]
    """Its values in the manifest, by column, without columns that are empty."""

    def lacks(self, column: ColumnType) -> bool:
        """Whether a column of the fleet is NULL in its rows."""
        return column != TRACE and self.manifest.get(column.name) is None

    def value(self, column: ColumnType) -> Expression:
        """Return the constant value of a column of the fleet in its rows."""
        value = self.name if column == TRACE else self.manifest.get(column.name)
        return Cast(NULL if value is None else Text(str(value)), column.type)

    def of_trace(self, column: ColumnType) -> Expression:
        """Return what stands for that value in a plan of several traces: the value itself if it is NULL."""
        return self.value(column) if self.lacks(column) else OfTrace(column.name, column.type)

    def cell(self, column: ColumnType) -> Value:
        """Return its value in a column of the manifest."""
        return self.manifest.get(column.name)

    def constant(self, column: ColumnType) -> p.Constant | None:
        """Return its value as a constant for conditions; None for values of other types."""
        if column == TRACE:
            return p.Constant(self.name)
        value = self.manifest.get(column.name)
        if value is None:
            return p.Constant(None)
        return p.Constant(value) if column.type in _COMPARED and not isinstance(value, float) else None


_COMPARED = ("VARCHAR", "BIGINT", "UBIGINT", "BOOLEAN")
"""Types whose values predicates support; the engine compares dates and fractions."""


def members(pattern: str, base: Path | None, manifest: Manifest | None) -> Sequence[FleetMember]:
    """Return the traces that a pattern matches.

    Raises:
        TraceError: there are none.
    """
    names = matching(pattern, base)
    if not names:
        raise TraceError(f"found no trace that matches `{pattern}`")
    root = (base or Path()).absolute()
    found = [(name, str(root / expanded(name))) for name in names]
    return [FleetMember(name, path, {} if manifest is None else manifest.of(name, path)) for name, path in found]


@lru_cache(100_000)
def file_at(path: str) -> Path:
    """Return the path object of a file; to make one takes longer than to ask for the file's status."""
    return Path(path)


def state_of(path: str) -> tuple[tuple[str, int, int], ...]:
    """Return the names of a trace's files, their sizes, and when they were changed, in ns."""
    whole = file_at(path).absolute()
    status = whole.stat()
    if not S_ISDIR(status.st_mode):
        return (_state(whole, status),)
    return tuple(_state(one, one.stat()) for one in sorted(one for one in whole.rglob("*") if one.is_file()))


def _state(file: Path, status: stat_result) -> tuple[str, int, int]:
    return str(file), status.st_size, status.st_mtime_ns


def is_as_it_was(member: FleetMember, state: tuple[tuple[str, int, int], ...]) -> bool:
    """Whether the files of a trace are unchanged since `state_of` was called."""
    try:
        return state_of(member.path) == state
    except OSError:
        return False


def size_of(member: FleetMember) -> int:
    """Return the size of a trace's files in bytes; 0 if it cannot be read."""
    try:
        return sum(size for _, size, _ in state_of(member.path))
    except OSError:
        return 0


@contextmanager
def named(member: FleetMember) -> Iterator[None]:
    """Add the name of the trace to errors."""
    try:
        yield
    except Interrupted:
        raise
    except DctvError as error:
        raise type(error)(f"{member.name}: {error.message}", error.place, hint=error.hint) from None
