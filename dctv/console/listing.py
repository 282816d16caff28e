"""Turns rows of text, such as a list of tables, into a result that writers can print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dctv.record import record
from dctv.session import Session
from dctv.types.schema import ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa


@record
class Listing:
    """A small result that is all text."""

    names: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def schema(self) -> Schema:
        """One text column per name."""
        return Schema(Kind.REGULAR, tuple(ColumnType(name, "VARCHAR") for name in self.names))

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield all rows at once."""
        yield [[row[i] for row in self.rows] for i in range(len(self.names))]

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as Arrow."""
        import pyarrow as pa

        batch = pa.record_batch([[row[i] for row in self.rows] for i in range(len(self.names))], names=list(self.names))
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def list_tables(session: Session, prefix: str = "") -> Listing:
    """List the tables and functions of a session, all or those below a name."""
    infos = sorted(session.tables(prefix), key=lambda info: info.name)
    return Listing(("name", "kind", "about"), [(info.name, info.kind, info.doc.split("\n", 1)[0]) for info in infos])
