"""Random span tables as Arrow streams, cut into batches at random; and streams as plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.bounds import EXPLORE, bounded

Row = tuple[Any, ...]

UNTIMED = bounded(200)
MOST_SPANS = 20 if EXPLORE else 6
HORIZON = 10 * MOST_SPANS + 4
"""All times of a drawn table are below this."""

KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int32(), [0, 1, 7]),
    "wide": (pa.int64(), [-5, 1 << 40, None]),
    "text": (pa.string(), ["a", "", None]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["x", "y", None]),
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the schema they have as an Arrow table, and where to cut it into batches."""

    fields: tuple[tuple[str, pa.DataType], ...]
    rows: tuple[Row, ...]
    cuts: tuple[int, ...] = ()

    def whole(self) -> pa.Table:
        """Return the rows as one batch."""
        return self._table(self.rows)

    def _table(self, rows: Sequence[Row]) -> pa.Table:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.fields)
        arrays = [pa.array(list(column), kind) for column, (_, kind) in zip(columns, self.fields, strict=True)]
        return pa.Table.from_arrays(arrays, names=[name for name, _ in self.fields])

    def cut(self) -> pa.Table:
        """Return the rows as batches, some of them empty."""
        edges = [0, *sorted(min(cut, len(self.rows)) for cut in self.cuts), len(self.rows)]
        pieces = [self._table(self.rows[a:b]) for a, b in pairwise(edges)]
        batches = [batch for piece in pieces for batch in (piece.to_batches() or [])]
        return pa.Table.from_batches(batches, self.whole().schema)


def rows(stream: Any) -> list[Row]:
    """Read a stream to the end."""
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    table.validate(full=True)
    return [tuple(row.values()) for row in table.to_pylist()]


def make(names: str, rows: Sequence[Row], **kinds: pa.DataType) -> Table:
    """Write a table down: names, then rows; columns are int64 unless said."""
    return Table(tuple((name, kinds.get(name, pa.int64())) for name in names.split()), tuple(rows))


@st.composite
def span_tables(draw: st.DrawFn, keys: Sequence[str], payload: str, partitions: int = 3) -> Table:
    """Draw spans in up to three partitions, with text payload that names the row."""
    out: list[Row] = []
    choices = [KEYS[key][1] for key in keys]
    tuples = sorted(draw(st.sets(st.tuples(*(st.sampled_from(c) for c in choices)), max_size=partitions)), key=str)
    for number, key in enumerate(tuples if keys else [()]):
        t = 0
        for gap, length in draw(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 6)), max_size=MOST_SPANS)):
            t += gap
            value = None if draw(st.integers(0, 9)) == 0 else f"{payload}{number}.{t} and a long tail"
            out.append((t, length, *key, value))
            t += length
    out = draw(st.permutations(out))
    out.sort(key=lambda row: row[0])
    return Table(_fields(("_ts", "_duration"), keys, payload), tuple(out), tuple(draw(_CUTS)))


@st.composite
def event_tables(draw: st.DrawFn, keys: Sequence[str], payload: str) -> Table:
    """Draw events in up to three partitions, ties included."""
    choices = [KEYS[key][1] for key in keys]
    event = st.tuples(st.integers(0, 20), *(st.sampled_from(c) for c in choices))
    drawn = draw(st.lists(event, max_size=14))
    drawn.sort(key=lambda row: row[0])
    out = tuple((*row, f"{payload}{number}") for number, row in enumerate(drawn))
    return Table(_fields(("_ts",), keys, payload), out, tuple(draw(_CUTS)))


_CUTS = st.lists(st.integers(0, 14), max_size=6)


def _fields(own: Sequence[str], keys: Sequence[str], payload: str) -> tuple[tuple[str, pa.DataType], ...]:
    parts = [(f"k{number}", KEYS[key][0]) for number, key in enumerate(keys)]
    return (*((name, pa.int64()) for name in own), *parts, (payload, pa.string()))


def covering(table: Table, parts: int, key: Row, t: int) -> Row | None:
    """Return the span of a partition that covers the time `t`, by looking at all."""
    found = [row for row in table.rows if row[2 : 2 + parts] == key and row[0] <= t < row[0] + row[1]]
    return found[0] if found else None


KEY_SETS: list[list[str]] = [[], ["int"], ["wide"], ["text"], ["dictionary"], ["int", "text"]]
