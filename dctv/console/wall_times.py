"""Convert the times and timestamps of a result to wall-clock times in a time zone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC as _UTC
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from dctv.console.narration import print_stderr
from dctv.contracts.writer import ResultRows
from dctv.errors import BindError, UsageError, nearest
from dctv.plan.fleets import TRACE as TRACE_COLUMN
from dctv.run.result import Result
from dctv.types.schema import TS, ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa

TRACE, UTC, LOCAL = "trace", "utc", "local"
EXPECTED = "trace, utc, local or a zone such as Europe/Berlin"
_EPOCH = datetime(1970, 1, 1, tzinfo=_UTC)
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_MINUTE = 60
_INFINITE = {2**63 - 1: "infinity", 1 - 2**63: "-infinity"}
_FIRST, _LAST = -62_000_000_000, 253_000_000_000
"""Range of Unix times, in seconds, that Python can convert to another zone; others stay in UTC."""


def checked(text: str) -> str:
    """Return the canonical name of a way to show times.

    Raises:
        UsageError: it is neither a known way nor a time zone.
    """
    if text.lower() in {TRACE, UTC, LOCAL}:
        return text.lower()
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(text).key
    except (KeyError, OSError, ValueError):
        near = nearest(text, sorted(available_timezones()))
        hint = f"did you mean `{near}`?" if near else None
        raise UsageError(f"found the zone `{text}`, expected {EXPECTED}", hint=hint) from None


def in_zone(result: Result, name: str) -> Result | WallTimes:
    """Return a result with its times in a zone, or unchanged if times are to count from the beginning of the trace."""
    if name == TRACE:
        return result
    start: int | Mapping[str, int] | None = None
    if has_times(result.schema):
        try:
            start = result.time_zero()
        except BindError as error:
            print_stderr(f"warning: `{TS}` counts from the beginning of the trace: {error.message}")
    return WallTimes(result, name, start)


def dated(result: Result, name: str | None) -> Result | Dated:
    """Return a result with times that can be combined with those of other traces, for a zone.

    Raises:
        BindError: the start of the trace is unknown.
    """
    if name in {None, TRACE} or not has_times(result.schema):
        return result
    return Dated(result, result.start_unix_ns())


def has_times(schema: Schema) -> bool:
    """Whether a column counts from the beginning of a trace."""
    return any(map(_is_time, schema.columns))


def _is_time(column: ColumnType) -> bool:
    return column.name == TS and column.type == "BIGINT" and str(column.unit) == "ns"


class WallTimes:
    """A result with times in a zone; Arrow batches have timestamps, which do not depend on it."""

    def __init__(self, rows: ResultRows, zone: str, start: int | Mapping[str, int] | None) -> None:
        self._rows = rows
        self._zone = zone
        self._start = start
        """Time 0 of `_ts` in ns since the Unix epoch, or by trace; None to leave `_ts` unchanged."""
        self._texts = Texts(zone)
        self._warned = False

    @property
    def schema(self) -> Schema:
        """Names, types and units of the columns."""
        of = self._rows.schema
        columns = (ColumnType(c.name, "VARCHAR") if self._moves(c) else c for c in of.columns)
        return Schema(of.kind, tuple(columns), of.partitions)

    def _moves(self, column: ColumnType) -> bool:
        # Lists of timestamps stay as they are, like structs.
        is_timestamp = column.type.startswith("TIMESTAMP") and not column.type.endswith("]")
        return is_timestamp or (self._start is not None and _is_time(column))

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        import pyarrow as pa

        from dctv import _kernels  # compiled; only needed when a query runs

        for batch in self.reader():
            moved = [self._moves(column) for column in self._rows.schema.columns]
            columns = [self._texts.of(c) if m else c for c, m in zip(batch.columns, moved, strict=True)]
            yield from _kernels.rows(pa.table(columns, [str(number) for number in range(len(columns))]))

    def reader(self) -> pa.RecordBatchReader:
        """Return the batches as Arrow."""
        import pyarrow as pa

        whole = self._rows.reader()
        fields = [
            pa.field(old.name, self._type(old.type)) if self._moves(column) else old
            for old, column in zip(whole.schema, self._rows.schema.columns, strict=True)
        ]
        schema = pa.schema(fields)
        return pa.RecordBatchReader.from_batches(schema, (self._moved(batch, schema) for batch in whole))

    def _type(self, old: pa.DataType) -> pa.DataType:
        import pyarrow as pa

        named = "UTC" if self._zone in {UTC, LOCAL} else self._zone
        return pa.timestamp(getattr(old, "unit", "ns"), named)

    def _moved(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = []
        for column, of, to in zip(batch.columns, self._rows.schema.columns, schema, strict=True):
            if self._moves(of):
                numbers = column.view("int64")
                shifted = pc.add_checked(numbers, self._starts(batch)) if _is_time(of) else numbers
                columns.append(shifted.view(to.type))
            else:
                columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _starts(self, batch: pa.RecordBatch) -> int | pa.Array | None:
        """Return time 0 of each row; NULL for traces that do not record it."""
        import pyarrow as pa

        known = self._start
        if known is None or isinstance(known, int):
            return known
        named = batch.column(self._rows.schema.names.index(TRACE_COLUMN)).cast("string").dictionary_encode()
        traces = named.dictionary.to_pylist()
        unknown = [one for one in traces if one not in known]
        if unknown and not self._warned:
            self._warned = True
            print_stderr(f"warning: `{TS}` is NULL where a trace does not record when it began, such as {unknown[0]}")
        return pa.array([known.get(one) for one in traces], "int64").take(named.indices)


class Dated(WallTimes):
    """A result with the times of a trace as timestamps, in UTC."""

    def __init__(self, rows: Result, start: int) -> None:
        super().__init__(rows, UTC, start)

    @property
    def schema(self) -> Schema:
        """Names, types and units of the columns."""
        of = self._rows.schema
        columns = (ColumnType(c.name, "TIMESTAMP_NS") if _is_time(c) else c for c in of.columns)
        return Schema(Kind.REGULAR, tuple(columns))


class Texts:
    """A formatter of timestamps in a zone, with the offset from UTC."""

    def __init__(self, zone: str) -> None:
        self._zone = _zone(zone)
        self._offsets: dict[int, tuple[int, str]] = {}
        """By Unix minute: the seconds to local time, and the offset as text."""
        self._minutes: dict[int, str] = {}
        """Local minutes since the epoch as texts."""

    def of(self, column: pa.Array) -> pa.Array:
        """Format timestamps."""
        import pyarrow as pa

        unit = column.type.unit
        numbers = column.view("int64").to_pylist()
        return pa.array([None if one is None else self.text(one, unit) for one in numbers], "string")

    def text(self, value: int, unit: str = "ns") -> str:
        """Format a Unix time."""
        if value in _INFINITE:
            return _INFINITE[value]
        digits = _DIGITS[unit]
        seconds, rest = divmod(value, 10**digits)
        fraction = f".{rest:0{digits}}" if digits else ""
        if not _FIRST < seconds < _LAST:
            import numpy as np

            return f"{np.datetime64(seconds, 's')}".replace("T", " ") + f"{fraction}+00"
        ahead, offset = self._offset(seconds // _MINUTE)
        minute, second = divmod(seconds + ahead, _MINUTE)
        if minute not in self._minutes:
            self._minutes[minute] = f"{_EPOCH + timedelta(minutes=minute):%Y-%m-%d %H:%M}".rjust(16, "0")
        return f"{self._minutes[minute]}:{second:02}{fraction}{offset}"

    def _offset(self, minute: int) -> tuple[int, str]:
        if minute not in self._offsets:
            local = (_EPOCH + timedelta(minutes=minute)).astimezone(self._zone)
            ahead = round((local.utcoffset() or timedelta()).total_seconds())
            hours, rest = divmod(abs(ahead), 3600)
            minutes = f":{rest // 60:02}" if rest else ""
            offset = f"{'-' if ahead < 0 else '+'}{hours:02}{minutes}{f':{rest % 60:02}' if rest % 60 else ''}"
            self._offsets[minute] = ahead, offset
        return self._offsets[minute]


def _zone(name: str) -> tzinfo | None:
    """Return a zone; None is that of this machine, or of TZ."""
    from zoneinfo import ZoneInfo

    return {UTC: _UTC, LOCAL: None}[name] if name in {UTC, LOCAL} else ZoneInfo(name)
