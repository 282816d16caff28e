"""The interface of an indexable trace format: one pass over the chunks, and reading single chunks again.

A chunk is a run of whole lines (or packets) of one file that can be decoded without the data before it, except for
metadata of the whole trace: it begins at a gzip member, at a seek point inside of one, or anywhere in a plain file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from dctv.record import field, record

T = TypeVar("T")

RAW = "raw_events."
"""Begins the names of tables of raw events."""

LINE = "dctv:line"
"""A column of decoded chunks, uint32: the number of the event's line (or packet) in its chunk, from 0."""

FILE = "dctv:file"
"""A column of decoded rows of many chunks, uint32: the number of the file that each is from."""

CHUNK_BYTES = 16 << 20
"""The least number of bytes of text in a chunk, if its file has that many: small gzip members are merged."""


@record
class Checkpoint:
    """The place of a chunk."""

    file: int
    """Number of the file in the trace."""
    number: int
    """Number of the chunk in its file, from 0."""
    uc_offset: int
    """The offset of its text in the unpacked file; the first byte of a line."""
    uc_size: int
    """Bytes of its text; ends behind a line's end, or with the file."""
    c_offset: int
    """Where unpacking begins in the file: a gzip header if `window` is None and `bits` is 0, else inside of a deflate
    stream. In a plain file it equals `uc_offset`."""
    c_size: int
    """Bytes of the file from `c_offset` on that are needed for it."""
    bits: int
    """The number of bits of the byte before `c_offset` that belong to the deflate block that begins here, 0 to 7."""
    window: bytes | None
    """The text before the seek point that later text may refer to, at most 32 KiB; None at a member's header."""
    skip: int
    """Bytes of text between the place where unpacking begins and the chunk's first line."""
    first_line: int
    """Number of its first line in the file, from 0."""
    lines: int
    packed: bool
    """Whether the file is gzip."""


@record
class DecodedChunk:
    """The events of one chunk."""

    checkpoint: Checkpoint
    events: Sequence[tuple[str, Any]]
    """Event name and its rows in the order of the file, as pyarrow's or any other object with `__arrow_c_array__` and
    `num_rows`: `_ts` in absolute ns, durations in ns, the columns as decoded, `LINE` as the last one."""
    others: Sequence[tuple[str, Any]] = ()
    """Rows of tables that are not of events (`metadata`), by the table's name, in the order of the file."""
    hashes: Sequence[tuple[str, str, str]] = ()
    """Texts of hashes that the chunk defines: dimension (`fhash`, `hhash`, `shash`), hash, text."""
    other_lines: Mapping[str, bytes] = field(default_factory=dict)
    """Lines that are no events, by type (`FH`, `PR`, `` for blank and bad ones): little-endian u32 line numbers."""


@record
class TraceMetadata:
    """Facts about a whole trace that a format needs to finish its tables and to decode single chunks."""

    entries: Mapping[str, Any]
    """Values that JSON can hold; always includes `start_ns`, the absolute time of `_ts` 0."""
    hashes: Sequence[tuple[int, str, str, str]]
    """File, dimension, hash and text of all chunks."""
    _computed: dict[Callable[..., Any], Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, compute: Callable[[Mapping[str, Any]], T]) -> T:
        """Return what a function computes of the entries; it is asked once, however many tables there are."""
        if compute not in self._computed:
            self._computed[compute] = compute(self.entries)
        found: T = self._computed[compute]
        return found


@record
class ColumnLineage:
    """The column of the decoded events that a column of a finished table comes from."""

    dimension: str
    """`ts` (in absolute ns), `dur`, `cat`, `args.size`: as indexes call it."""
    resolves: str | None = None
    """The dimension of `hashes` whose texts the column shows in place of hashes; where a hash has none or several
    texts it shows NULL or any of them."""


class Pass(Protocol):
    """One pass over the files of a trace, in bounded memory, on several threads.

    Chunks come in the order of files and offsets. An exception from the context's `progress` ends the pass.
    """

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield every chunk once."""

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the trace; only after the last chunk."""

    def again(self) -> bool:
        """Whether earlier chunks were decoded wrongly, without a fact that was found later.

        Such a fact is a time unit, or a column's type to which its values cannot be cast without loss. The pass must be
        repeated with its metadata as hints; the second pass never needs a third.
        """
