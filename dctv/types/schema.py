"""Schemas of tables: the kind, the partitions, and the columns with types and units."""

from __future__ import annotations

from enum import Enum

from dctv.record import record
from dctv.types.unit import NO_UNIT, Unit

TS = "_ts"
DURATION = "_duration"


class Kind(Enum):
    """The three kinds of table; a table's kind decides which operations accept it."""

    REGULAR = "regular"
    EVENT = "event"
    SPAN = "span"

    @property
    def time_columns(self) -> tuple[str, ...]:
        """The special time columns of this kind, in order."""
        return {Kind.REGULAR: (), Kind.EVENT: (TS,), Kind.SPAN: (TS, DURATION)}[self]


@record
class ColumnType:
    """One column: its name, the engine's name of its type (`BIGINT`, `VARCHAR`, `STRUCT(a INTEGER)`) and its unit."""

    name: str
    type: str
    unit: Unit = NO_UNIT

    @property
    def head(self) -> str:
        """The header of the column: `name [unit]`, or the name alone."""
        unit = str(self.unit)
        return f"{self.name} [{unit}]" if unit else self.name


@record
class Schema:
    """The static type of a table.

    The columns of a span table begin with `_ts`, `_duration` and its partition columns, in that order;
    those of an event table with `_ts` and its partition columns. The rest is the payload.
    """

    kind: Kind
    columns: tuple[ColumnType, ...]
    partitions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The column names in order."""
        return tuple([c.name for c in self.columns])

    @property
    def special_count(self) -> int:
        """The number of special columns, which come first: time and partition columns."""
        return len(self.kind.time_columns) + len(self.partitions)

    @property
    def special(self) -> tuple[ColumnType, ...]:
        """The time and partition columns."""
        return self.columns[: self.special_count]

    @property
    def payload(self) -> tuple[ColumnType, ...]:
        """The columns that are not special."""
        return self.columns[self.special_count :]

    def describe(self) -> str:
        """Name the kind and partitions as error messages do: `span table partitioned by cpu`."""
        if self.kind is Kind.REGULAR:
            return "regular table"
        if not self.partitions:
            return f"unpartitioned {self.kind.value} table"
        return f"{self.kind.value} table partitioned by {', '.join(self.partitions)}"

    def describe_one(self) -> str:
        """Name it with its article: `an event table`."""
        text = self.describe()
        return f"{'an' if text[0] in 'eu' else 'a'} {text}"
