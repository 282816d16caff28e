"""Write lines to files, in gzip members or Parquet row groups of a suitable size, and read them again."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from dctv.errors import TraceError
from dctv.provenance.lines import lines_of, text_of
from dctv.record import field, record
from dctv.whole_file import Descriptor

if TYPE_CHECKING:
    import pyarrow as pa

MEMBER_BYTES = 16 << 20
"""Text per gzip member or row group, in bytes."""
RECORD = "record"
"""The column of a Parquet file that holds the lines, with their newlines."""
READER_KEY = b"dctv.reader"
"""Metadata of a Parquet file: the format of its records."""
_PIECE = 4 << 20


class Output(Protocol):
    """A file that lines are appended to."""

    lines: int
    """The number of lines so far."""

    def add(self, lines: pa.LargeBinaryArray, columns: dict[str, pa.Array]) -> None:
        """Append lines; `columns` are additional columns, for formats that have them."""
        ...

    def close(self) -> str:
        """Write the remaining lines, and return the SHA-256 of the file."""
        ...

    def discard(self) -> None:
        """Release a file that is not wanted."""
        ...


@record(frozen=False)
class GzipOutput:
    """Lines in gzip members."""

    path: Path
    lines: int = 0
    _held: list[bytes] = field(default_factory=list)
    _bytes: int = 0

    def __post_init__(self) -> None:
        """Create the file."""
        self.path.write_bytes(b"")

    def add(self, lines: pa.LargeBinaryArray, _: dict[str, pa.Array]) -> None:
        """Append lines."""
        self.lines += len(lines)
        text = text_of(lines)
        self._held.append(text)
        self._bytes += len(text)
        if self._bytes >= MEMBER_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._bytes:
            with self.path.open("ab") as file:
                file.write(zlib.compress(b"".join(self._held), 6, wbits=31))
        self._held, self._bytes = [], 0

    def close(self) -> str:
        """Write the remaining lines, and return the SHA-256 of the file."""
        self._flush()
        return digest_of(self.path)

    def discard(self) -> None:
        """Forget the remaining lines."""
        self._held, self._bytes = [], 0


class ParquetOutput:
    """Lines in a column, beside columns of their events."""

    def __init__(self, path: Path, reader: str, target: Path) -> None:
        """Prepare a file, whose errors name the target."""
        self.path = path
        self._target = target
        self.lines: int = 0
        self._reader = reader
        self._writer: Any = None
        self._held: list[pa.Table] = []
        self._bytes = 0

    def add(self, lines: pa.LargeBinaryArray, columns: dict[str, pa.Array]) -> None:
        """Append lines and their columns, which must be the same in every call."""
        import pyarrow as pa

        self.lines += len(lines)
        self._held.append(pa.table({**columns, RECORD: lines.cast(pa.binary())}))
        self._bytes += self._held[-1].nbytes
        if self._bytes >= MEMBER_BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._held:
            return
        table = pa.concat_tables(self._held)
        if self._writer is None:
            schema = table.schema.with_metadata({READER_KEY: self._reader.encode()})
            self._writer = pq.ParquetWriter(self._opened(), schema, compression="zstd")
        self._writer.write_table(table.replace_schema_metadata({READER_KEY: self._reader.encode()}))
        self._held, self._bytes = [], 0

    def _opened(self) -> BinaryIO:
        self._file = self.path.open("wb", buffering=0)
        self._raw = Descriptor(self._file.fileno(), f"`{self._target}`", lambda: None)
        self._stream = io.BufferedWriter(self._raw, 1 << 16)
        return self._stream

    def close(self) -> str:
        """Write the remaining lines, and return the SHA-256 of the file."""
        self._flush()
        self._release()
        return digest_of(self.path)

    def discard(self) -> None:
        """Close the file, whose contents do not matter."""
        if self._writer is not None:
            # Closing writes the end of the file, which may fail as what was before.
            self._raw.forget = True
            self._release()

    def _release(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._stream.close()
            self._file.close()


class Lines:
    """A reader of the lines of an output file, from its beginning."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pieces = _parquet_pieces(path) if path.suffix == ".parquet" else _gzip_pieces(path)
        self._held = lines_of(b"")

    def take(self, count: int) -> pa.LargeBinaryArray:
        """Return the next lines.

        Raises:
            TraceError: the file is missing, damaged or too short.
        """
        import pyarrow as pa

        found, missing = [self._held], count - len(self._held)
        while missing > 0:
            piece = self._next()
            if piece is None:
                raise TraceError(f"`{self._path}` ends {missing} lines too early", hint="it has been changed")
            found.append(piece)
            missing -= len(piece)
        lines = pa.concat_arrays(found)
        self._held = lines[count:]
        return lines[:count]

    def rest(self) -> int:
        """Return the number of lines that are left."""
        left = len(self._held)
        while (piece := self._next()) is not None:
            left += len(piece)
        return left

    def _next(self) -> pa.LargeBinaryArray | None:
        import pyarrow as pa

        try:
            return next(self._pieces, None)
        except FileNotFoundError:
            raise TraceError(
                f"the file `{self._path}` is missing", hint="it was there when the traces were reorganized"
            ) from None
        except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
            raise TraceError(f"`{self._path}` is damaged: {error}") from None


def _gzip_pieces(path: Path) -> Iterator[pa.LargeBinaryArray]:
    cut = b""
    with gzip.open(path, "rb") as file:
        while piece := file.read(_PIECE):
            end = piece.rfind(b"\n") + 1
            if not end:
                cut += piece
                continue
            yield lines_of(cut + piece[:end])
            cut = piece[end:]
    if cut:
        yield lines_of(cut)


def _parquet_pieces(path: Path) -> Iterator[pa.LargeBinaryArray]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=[RECORD]):
            yield batch.column(0).cast(pa.large_binary())


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
