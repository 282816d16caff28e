"""Read CSV whose lines end in several ways, which the engine refuses, as a stream of texts."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from typing import Any

from dctv.contracts.head import compression_of
from dctv.contracts.reader import Head
from dctv.record import field, record

_BLOCK = 1 << 22
"""The number of bytes that are parsed at once; no row may be longer."""
_REASON = "row has other columns than the header"


def ends_differ(head: Head) -> bool:
    """Whether lines of a file end in several ways, apart from lines in quotes."""
    seen: set[str] = set()
    outside = True
    with gzip.open(head.path) if compression_of(head) == "gzip" else head.path.open("rb") as file:
        # A block ends with a line, so that it has all of CR LF.
        while block := file.read(_BLOCK) + file.readline(_BLOCK):
            for part in block.split(b'"'):
                seen |= _ends(part) if outside else set()
                outside = not outside
            outside = not outside
    return len(seen) > 1


def _ends(text: bytes) -> set[str]:
    both = text.count(b"\r\n")
    counts = {"CR LF": both, "LF": text.count(b"\n") - both, "CR": text.count(b"\r") - both}
    return {name for name, count in counts.items() if count}


@record(frozen=False)
class _Lost:
    """Rows that were left out."""

    count: int = 0
    first: str = ""

    def add(self, row: Any) -> str:
        """Count a row, and tell the reader to go on."""
        self.first = row.text if self.count == 0 else self.first
        self.count += 1
        return "skip"


@record(frozen=False)
class MixedEnds:
    """A file with a header, and with rows that end in LF, CR LF or CR."""

    head: Head
    divider: str
    names: Sequence[str]
    lost: _Lost = field(default_factory=_Lost)
    """The rows with other numbers of fields of the last stream."""

    def stream(self) -> Any:
        """Return a reader of the rows, with empty fields as NULL.

        Raises:
            ValueError: the file is damaged.
        """
        import pyarrow as pa
        from pyarrow import csv

        # The engine may still read an earlier stream, whose rows must not be counted twice.
        self.lost = _Lost()
        packed = compression_of(self.head)
        return csv.open_csv(
            pa.input_stream(str(self.head.path), compression=None if packed == "none" else packed),
            read_options=csv.ReadOptions(
                column_names=list(self.names), skip_rows_after_names=1, use_threads=False, block_size=_BLOCK
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.divider, newlines_in_values=True, invalid_row_handler=self.lost.add
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(self.names, pa.string()), null_values=[""], strings_can_be_null=True
            ),
        )

    def rejected(self, _: Any) -> list[tuple[str, int, str]]:
        """Return why rows were left out, how many, and the first of them."""
        return [(_REASON, self.lost.count, self.lost.first)] if self.lost.count else []
