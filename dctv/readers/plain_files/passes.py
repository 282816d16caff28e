"""Read files of plain tables as chunks of rows, by the options of their mount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import LINE, RAW, Checkpoint, DecodedChunk
from dctv.contracts.reader import LoadContext
from dctv.errors import DctvError, TraceError, nearest
from dctv.plan.build import STAR, call, is_not_null, minus, number, plus, select, times
from dctv.plan.expressions import And, Binary, Cast, Column, Expression, IsNull
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.readers.plain_files.columns import PlainColumn, renamed
from dctv.readers.plain_files.flaws import Flaws, possible
from dctv.readers.plain_files.tables import PlainFile, PlainTable, Tables
from dctv.record import record, replace
from dctv.types.schema import TS
from dctv.types.units import parse_unit, ratio

_ROWS = 100_000
_DAMAGE = "dctv:damage "
_NO_DURATION = "dctv:no duration"
_FRACTION = "dctv:fraction"
_DATES = ("DATE", "TIMESTAMP")
_ZONED = "TIMESTAMP WITH TIME ZONE"


class PlainPass:
    """One pass over files of plain tables, table by table."""

    def __init__(self, tables: Tables, paths: Sequence[Path], context: LoadContext) -> None:
        self._tables = tables
        self._paths = paths
        self._context = context
        self._descriptions: list[dict[str, Any]] = []
        self._notes: list[tuple[int, str, int, str, bool]] = []
        self._lines: list[tuple[int, int, int]] = []
        self._range: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[DecodedChunk]:
        import duckdb

        from dctv.sandbox import sandboxed

        # Texts of times without a zone are UTC, wherever they are read.
        connection = sandboxed({"threads": self._context.threads}, files=self._paths, zone="UTC")
        sizes = [path.stat().st_size for path in self._paths]
        empty = {file for file, size in enumerate(sizes) if not size} if any(sizes) else set()
        self._notes += [(file, "file is empty", 1, "", False) for file in empty]
        number = 0
        try:
            options = self._context.options
            files = [
                PlainFile(file, path, connection, options) for file, path in enumerate(self._paths) if file not in empty
            ]
            found = [one for file in files for one in self._tables(file)]
            for one in _distinct(_reading(found, options)):
                for batch in self._batches(one, connection):
                    self._context.progress(sum(sizes[: one.file]), sum(sizes))
                    place = Checkpoint(
                        one.file, number, number, 1, number, 1, 0, None, 0, number * _ROWS, len(batch), packed=False
                    )
                    number += 1
                    named = one.name, batch
                    events = [named] if TS in batch.schema.names else []
                    yield DecodedChunk(place, events, [] if events else [named])
            _check_used(self._descriptions, self._context.options)
        except duckdb.Error as error:
            raise ValueError(str(error).partition("\n")[0]) from None
        finally:
            connection.close()

    def _batches(self, one: PlainTable, connection: Any) -> Iterator[Any]:
        import pyarrow as pa

        from dctv.engines.sql.duckdb import write

        for name, stream in one.given.items():
            connection.register(name, stream())
        described = connection.execute(write(replace(select(STAR, source=one.query), limit=number(0)))).description
        shape = _Shape.of(one, {name: str(kind) for name, kind, *_ in described}, self._context.options)
        for name, stream in one.given.items():
            connection.register(name, stream())
        reader = connection.sql(write(shape.query(one.query))).to_arrow_reader(_ROWS)
        self._descriptions.append(shape.description())
        flaws, rows = Flaws(), 0
        for given in reader:
            batch = shape.without_marks(given, flaws)
            rows += len(batch)
            if shape.time is not None:
                batch = possible(batch, flaws)
                self._widen(batch)
            yield batch.append_column(LINE, pa.array(range(len(batch)), pa.uint32()))
        shape.check_unit(flaws.rounded, rows)
        self._notes += [(one.file, reason, count, "", False) for reason, count in flaws.reasons(one.name)]
        for role in shape.unfit:
            reason = f"column {shape.roles[role]} of {one.name} is not BIGINT, so {role} is NULL"
            self._notes.append((one.file, reason, 1, "", False))
        for reason, count, example, incomplete in one.notes(connection):
            self._notes.append((one.file, reason, count, example[:200], incomplete))
        if one.lines is not None:
            self._lines.append((one.file, *one.lines(connection, rows)))

    def _widen(self, batch: Any) -> None:
        from pyarrow import compute

        if not len(batch):
            return
        times = batch.column(TS)
        ends = compute.add(times, batch.column("dur").fill_null(0)) if "dur" in batch.schema.names else times
        first, last = compute.min(times).as_py(), max(compute.max(ends).as_py(), compute.max(times).as_py())
        time_range = self._range or (first, last)
        self._range = min(time_range[0], first), max(time_range[1], last)

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata."""
        first, last = self._range or (0, 0)
        clock = {"clock": "trace"} if self._range else {}
        return {
            "start_ns": first,
            "last_ts": last - first,
            "tables": self._descriptions,
            "diagnostics": self._notes,
            "lines": self._lines,
            "properties": clock,
        }


def _reading(found: Sequence[PlainTable], options: Mapping[str, object]) -> list[PlainTable]:
    table = options.get("table")
    chosen = [one for one in found if table is None or one.name == table]
    if not chosen:
        names = [one.name for one in found]
        near = nearest(str(table), names)
        hint = f"did you mean `{near}`?" if near else f"there are: {', '.join(names) or 'none'}"
        raise TraceError(f"found no table `{table}`", hint=hint)
    return chosen


def _distinct(tables: Sequence[PlainTable]) -> Iterator[PlainTable]:
    """Number tables of the same name."""
    seen: dict[str, int] = {}
    for one in tables:
        seen[one.name] = seen.get(one.name, 0) + 1
        yield one if seen[one.name] == 1 else replace(one, name=f"{one.name}_{seen[one.name]}")


def _check_used(description: Sequence[Mapping[str, Any]], options: Mapping[str, object]) -> None:
    """Reject a column of times that no table has."""
    wanted = options.get("timestamp")
    if wanted is not None and not any(one["event"] for one in description):
        columns = sorted({column for one in description for column, _, _ in one["columns"]})
        near = nearest(str(wanted), columns)
        hint = f"did you mean `{near}`?" if near else f"its columns: {', '.join(columns[:20])}"
        raise TraceError(f"found no column `{wanted}` for the times", hint=hint)


@record
class _Shape:
    """The form of a table in the trace."""

    name: str
    columns: tuple[PlainColumn, ...]
    time: PlainColumn | None
    duration: PlainColumn | None
    unit: str | None
    """The unit of times and durations whose columns have none of their own; None is ns, since none was given."""
    partitions: tuple[str, ...]
    roles: Mapping[str, str]

    @staticmethod
    def of(one: PlainTable, engine: Mapping[str, str], options: Mapping[str, object]) -> _Shape:
        """Find times and other columns by the options of the mount."""
        found = {
            name: PlainColumn(name, name, kind, one.units.get(name, ""), one.typed) for name, kind in engine.items()
        }
        time = str(options.get("timestamp", TS))
        unit = str(options["unit"]) if "unit" in options else None
        _scale(unit or "ns")
        if time not in found:
            return _Shape(one.name, tuple(found.values()), None, None, unit, (), {})
        partition = options.get("partition", ())
        partitions = tuple(map(str, partition)) if isinstance(partition, list | tuple) else (str(partition),)
        roles = {role: str(options[role]) for role in ("name", "category", "pid", "tid") if role in options}
        duration = options.get("duration", "_duration" if "_duration" in found else None)
        for column in (*partitions, *roles.values(), *([] if duration is None else [str(duration)])):
            if column not in found:
                near = nearest(column, list(found))
                hint = f"did you mean `{near}`?" if near else f"its columns: {', '.join(found)}"
                raise TraceError(f"found no column `{column}` in `{one.name}`", hint=hint)
        length = None if duration is None else found.pop(str(duration))
        first = found.pop(time)
        description = {name for name, column in found.items() if name in (*partitions, *roles.values())}
        found = {
            name: replace(column, typed=False) if name in description else column for name, column in found.items()
        }
        order = {name: found.pop(name) for name in partitions if name in found}
        rest = tuple(renamed(column) for column in (*order.values(), *found.values()))
        return _Shape(one.name, rest, first, length, unit, partitions, roles)

    def query(self, rows: Query) -> Select:
        """Return the rows in this form."""
        items = [] if self.time is None else [Item(_in_ns(self.time, self.unit), TS)]
        if self.guessed is not None:
            scaled = _scaled(self.guessed, self.unit)
            items.append(Item(Binary("!=", scaled, call("round", scaled)), _FRACTION))
        items += [Item(one.value(), one.shown) for one in self.columns]
        items += [Item(one.damage(), f"{_DAMAGE}{one.shown}") for one in self.checked]
        if self.duration is not None:
            length = _in_ns(self.duration, self.unit)
            items.append(Item(length, "dur"))
            items.append(Item(And((is_not_null(Column(self.duration.source)), IsNull(length))), _NO_DURATION))
        return select(*items, source=rows)

    @property
    def checked(self) -> list[PlainColumn]:
        """Columns of JSON from text, which may be invalid."""
        return [one for one in self.columns if one.engine == "JSON"]

    @property
    def guessed(self) -> PlainColumn | None:
        """The column of times, if it has numbers in a unit that nothing tells."""
        column = self.time
        is_known = column is None or self.unit is not None or column.unit or column.engine.startswith(_DATES)
        return None if is_known else column

    def check_unit(self, rounded: int, rows: int) -> None:
        """Refuse times in ns that nothing says are in ns, if most of them have fractions."""
        if self.guessed is not None and 2 * rounded > rows:
            raise TraceError(
                f"times in `{self.guessed.source}` have fractions, and no unit",
                hint="name it: WITH (unit => 's'), or 'ms', 'us' or 'ns'",
            )

    @property
    def unfit(self) -> list[str]:
        """Those of `pid` and `tid` whose columns are not whole numbers of 64 bits; these stay among the others."""
        numbers = {one.source for one in self.columns if one.kind == "int"}
        return [role for role in ("pid", "tid") if role in self.roles and self.roles[role] not in numbers]

    def without_marks(self, batch: Any, flaws: Flaws) -> Any:
        """Drop the columns that mark values which could not be read, and count these."""
        from pyarrow import compute

        def marked(name: str) -> int:
            return compute.sum(batch.column(name)).as_py() or 0

        names = [f"{_DAMAGE}{one.shown}" for one in self.checked]
        flaws.json += sum(map(marked, names))
        if self.guessed is not None:
            names.append(_FRACTION)
            flaws.rounded += marked(_FRACTION)
        if self.duration is not None:
            names.append(_NO_DURATION)
            flaws.unread += marked(_NO_DURATION)
        return batch.select([name for name in batch.schema.names if name not in names])

    def description(self) -> dict[str, Any]:
        """Return the table's entry in the metadata."""
        columns = [(one.shown, one.kind, one.unit) for one in self.columns]
        casts = {one.shown: one.cast for one in self.columns if one.cast is not None}
        if self.time is None:
            return {"name": self.name, "columns": columns, "event": None, "casts": casts}
        length = [] if self.duration is None else [("dur", "int", "ns")]
        shown = {one.source: one.shown for one in self.columns}
        roles = {role: shown[column] for role, column in self.roles.items() if column in shown}
        roles = {role: column for role, column in roles.items() if role not in self.unfit}
        named = roles.pop("name", None)
        used = {named, *roles.values()}
        event = {
            "name": self.name,
            "named_by": named,
            "category": roles.get("category"),
            "pid": roles.get("pid"),
            "tid": roles.get("tid"),
            "duration": "dur" if length else None,
            "args": [name for name, _, _ in columns if name not in used],
        }
        whole = [(TS, "int", "ns"), *columns, *length]
        partitions = [shown[name] for name in self.partitions]
        return {"name": f"{RAW}{self.name}", "columns": whole, "event": event, "partitions": partitions, "casts": casts}


def _scale(unit: str) -> Fraction:
    """Return the ns of a time unit."""
    try:
        return ratio(parse_unit(unit), parse_unit("ns"))
    except DctvError:
        raise TraceError(f"found the unit `{unit}`, expected a unit of time: 'ns', 'us', 'ms', 's'") from None


def _in_ns(column: PlainColumn, unit: str | None) -> Expression:
    """Convert numbers in their column's unit, or else this one, dates, or texts of either to ns; others are NULL."""
    value = Column(column.source)
    if column.engine == _ZONED:
        return call("epoch_ns", value)
    if column.engine.startswith(_DATES):
        return _since_epoch(value, "TIMESTAMP_NS")
    whole = Cast(call("round", _scaled(column, unit)), "BIGINT", lenient=True)
    return call("coalesce", whole, _dated(value)) if column.kind == "text" else whole


def _scaled(column: PlainColumn, unit: str | None) -> Expression:
    """Convert numbers, or texts of them, to ns with a fraction."""
    scale = _scale(column.unit or unit or "ns")
    exact = column.engine in {"DOUBLE", "FLOAT"}
    # Decimal digits of a text are exact; a float has its own precision.
    read = Cast(Column(column.source), "DOUBLE" if exact else "DECIMAL(28, 9)", lenient=True)
    scaled = times(read, number(scale.numerator))
    return scaled if scale.denominator == 1 else Binary("/", scaled, number(scale.denominator))


def _dated(text: Expression) -> Expression:
    """Convert texts of dates to ns since 1970.

    Only the engine's type of ns has all digits, and only its type of us reads zones, so the difference between both
    types of us is the zone's offset.
    """
    exact, local, zoned = (_since_epoch(text, kind) for kind in ("TIMESTAMP_NS", "TIMESTAMP", _ZONED))
    return plus(exact, minus(zoned, local))


def _since_epoch(value: Expression, kind: str) -> Expression:
    return call("epoch_ns", Cast(value, kind, lenient=True))
