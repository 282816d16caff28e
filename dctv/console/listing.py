"""Turn rows of text, such as a list of tables, into a result for writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from glob import has_magic
from typing import TYPE_CHECKING

import dctv.writers
from dctv.catalog.namespace import NOTHING_MOUNTED
from dctv.console.sink import stdout_sink
from dctv.console.verdict import OK
from dctv.contracts.registry import scan
from dctv.contracts.writer import ResultRows, Writer
from dctv.errors import UsageError, nearest
from dctv.patterns import pattern as compiled
from dctv.record import record
from dctv.session import Session
from dctv.types.schema import ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_IN_FROM = "`.tables` lists those that stand in FROM"
_END = compiled(r"[.:;](?:\s|$)|\n")


@record
class Listing:
    """A small result with only text columns."""

    names: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def schema(self) -> Schema:
        """One text column per name."""
        return Schema(Kind.REGULAR, tuple(ColumnType(name, "VARCHAR") for name in self.names))

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield all rows in one chunk."""
        yield [[row[i] for row in self.rows] for i in range(len(self.names))]

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as Arrow."""
        import pyarrow as pa

        batch = pa.record_batch([[row[i] for row in self.rows] for i in range(len(self.names))], names=list(self.names))
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def write_listing(listing: ResultRows, name: str) -> int:
    """Write a list to stdout in a format and return the exit code."""
    writer = scan(dctv.writers, Writer)[name]
    with stdout_sink(lambda: None) as sink:
        writer.write(listing, sink.stream)
    return OK


@record
class Listed:
    """Tables and functions, and the number of omitted ones."""

    listing: Listing
    hidden: int = 0

    def remark(self, option: str) -> str:
        """Return a remark on how many were omitted, and how to show them."""
        more = "1 more has" if self.hidden == 1 else f"{self.hidden} more have"
        return f"{more} no rows, as there are none of their events; {option} lists them"


def list_tables(session: Session, pattern: str = "", *, everything: bool = False) -> Listed:
    """List tables and functions that match a pattern; those without events in the trace only with `everything`.

    Raises:
        UsageError: there are none.
    """
    unquoted = pattern.replace("`", "")
    infos = [info for info in session.tables() if fits_pattern(info.name, unquoted)]
    if not infos:
        raise UsageError(f"no table or function fits `{pattern}`", hint=_hint(session, pattern))
    left_out = set() if everything else session.lacking([info.name for info in infos])
    rows = [(info.written, info.kind, _short(info.doc)) for info in infos if info.name not in left_out]
    return Listed(Listing(("name", "kind", "about"), rows), len(infos) - len(rows))


def list_functions(session: Session, pattern: str = "") -> Listing:
    """List the scalar and aggregate functions that match a pattern, with their kinds and descriptions.

    Raises:
        UsageError: there are none.
    """
    return _fitting(session, "FUNCTIONS", pattern, UsageError(f"no function fits `{pattern}`", hint=_IN_FROM))


def list_units(session: Session, pattern: str = "") -> Listing:
    """List the units that match a pattern, those of times and bytes first, with their values in base units.

    Raises:
        UsageError: there are none.
    """
    return _fitting(session, "UNITS", pattern, UsageError(f"no unit fits `{pattern}`"))


def list_mounts(session: Session) -> Listing:
    """List the mounted traces, in order of mounting."""
    found = session.sql("SHOW MOUNTS")
    return Listing(found.schema.names, found.fetchall())


def _fitting(session: Session, what: str, pattern: str, otherwise: UsageError) -> Listing:
    found = session.sql(f"SHOW {what}")
    rows = [row for row in found.fetchall() if fits_pattern(row[0], pattern)]
    if not rows:
        raise otherwise
    return Listing(found.schema.names, rows)


def fits_pattern(name: str, pattern: str) -> bool:
    """Whether a name, or the part after one of its dots, starts with the pattern; one with wildcards must match all."""
    low, lower_pattern = name.lower(), pattern.lower()
    if has_magic(lower_pattern):
        return fnmatchcase(low, lower_pattern)
    return low.startswith(lower_pattern) or f".{lower_pattern}" in low


def _hint(session: Session, pattern: str) -> str | None:
    if not session.mounts():
        return NOTHING_MOUNTED
    near = nearest(pattern, [info.name for info in session.tables()])
    return f"did you mean `{near}`?" if near else None


def _short(doc: str) -> str:
    """Return the beginning of a description: up to the first full stop, colon or semicolon."""
    return _END.split(doc, maxsplit=1)[0]
