"""Build a timeline of the rows of a query: a track for each partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dctv.errors import UsageError, nearest
from dctv.record import record
from dctv.timeline.gathering import GatheredRows, Gathering
from dctv.timeline.indexed import index
from dctv.timeline.space import Space
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import TrackKind
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.values import dialect_type

_NAME = "name"
"""The column with the names of rows, if it exists."""
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE")
_LAST = 2**63 - 1


@record
class ShownColumns:
    """The columns of a result to show."""

    name: ColumnType | None
    value: ColumnType | None


def timeline_of(
    schema: Schema,
    batches: Iterable[Any],
    space: Space,
    name: str | None = None,
    value: str | None = None,
    after: Timeline | None = None,
) -> Timeline:
    """Build a timeline of spans, named by the column `name`, of their numbers in the column `value`, or of events.

    With `after`, the rows follow those of another timeline, which is not changed.

    Raises:
        UsageError: there is no such column, the rows are neither spans nor events, the disk is full, or the rows
            cannot follow those of `after`.
    """
    shown = _shown(schema, name, value)
    gathering = Gathering("", _LAST, space, None if after is None else _built_rows(after))
    for batch in batches:
        gathering.add(_rows(schema, shown, batch))
    return Timeline([index(gathering.gathered(), space)])


def _built_rows(timeline: Timeline) -> GatheredRows:
    """Return the rows of a timeline that was built from one result."""
    if len(timeline.sources) != 1 or timeline.sources[0].rows.source:
        raise UsageError(
            "cannot append rows to the timeline of a trace",
            hint="append to a timeline that `Result.timeline` has returned",
        )
    return timeline.sources[0].rows


def _shown(schema: Schema, name: str | None, value: str | None) -> ShownColumns:
    if schema.kind is Kind.REGULAR:
        raise UsageError(
            "a regular table has no times, expected spans or events",
            hint="SELECT SPAN and SELECT EVENT keep times",
        )
    if value is not None and schema.kind is Kind.EVENT:
        raise UsageError("events have no duration, expected spans", hint="dctv.time_series_to_spans makes spans")
    number = None if value is None else _column(schema, value)
    if number is not None and not _is_number(number):
        raise UsageError(f"`{number.name}` is {dialect_type(number.type)}, expected numbers")
    if name is not None:
        return ShownColumns(_column(schema, name), number)
    texts = [column for column in schema.payload if column.type == "VARCHAR"]
    first = next((column for column in texts if column.name == _NAME), texts[0] if texts else None)
    if first is None and number is None and schema.kind is Kind.SPAN and len(schema.payload) == 1:
        (only,) = schema.payload
        return ShownColumns(None, only) if _is_number(only) else ShownColumns(only, None)
    return ShownColumns(first or next(iter(schema.payload), None), number)


def _column(schema: Schema, name: str) -> ColumnType:
    found = next((column for column in schema.columns if column.name == name), None)
    if found is None:
        near = nearest(name, list(schema.names))
        hint = f"did you mean `{near}`?" if near else f"its columns: {', '.join(schema.names)}"
        raise UsageError(f"the result has no column `{name}`", hint=hint)
    return found


def _is_number(column: ColumnType) -> bool:
    return column.type.removeprefix("U") in _NUMBERS or column.type.startswith("DECIMAL")


def _rows(schema: Schema, shown: ShownColumns, batch: Any) -> Any:
    """Convert rows to the form of a track provider."""
    import pyarrow as pa

    count = batch.num_rows
    columns = dict(zip(schema.names, batch.columns, strict=True))
    kind = TrackKind.INSTANTS if schema.kind is Kind.EVENT else TrackKind.SLICES
    name, value = pa.nulls(count, pa.string()), pa.nulls(count, pa.float64())
    if shown.value is not None:
        kind, value = TrackKind.COUNTER, columns[shown.value.name].cast(pa.float64(), safe=False)
    elif shown.name is not None:
        name = _texts(shown.name, columns[shown.name.name])
    unit = None if shown.value is None else str(shown.value.unit) or None
    rows = {
        "_ts": columns[TS].cast(pa.int64()),
        "_duration": columns[DURATION].cast(pa.int64()) if DURATION in columns else _same(0, pa.int64(), count),
        "path": _lists(_labels(schema, shown, columns, count)),
        "ranks": _lists(_ranks(schema, columns, count)),
        "kind": _same(kind.value, pa.string(), count),
        "depth": pa.nulls(count, pa.int64()),
        "name": name,
        "value": value,
        "unit": _same(unit, pa.string(), count),
    }
    return pa.record_batch(rows)


def _labels(schema: Schema, shown: ShownColumns, columns: dict[str, Any], count: int) -> Any:
    """Return the name of each row's track: `cpu 0`, or the shown column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not schema.partitions:
        what = shown.value or shown.name
        return _same(schema.kind.value if what is None else what.name, pa.string(), count)
    types = {column.name: column for column in schema.columns}
    texts = [
        pc.binary_join_element_wise(key, pc.fill_null(_texts(types[key], columns[key]), "NULL"), " ")
        for key in schema.partitions
    ]
    return pc.binary_join_element_wise(*texts, ", ")


def _ranks(schema: Schema, columns: dict[str, Any], count: int) -> Any:
    """Return the sort keys of tracks: the partition's number, if it is numeric."""
    import pyarrow as pa

    if len(schema.partitions) == 1:
        column = columns[schema.partitions[0]]
        if pa.types.is_integer(column.type) and column.type != pa.uint64():
            return column.cast(pa.int64())
    return pa.nulls(count, pa.int64())


def _texts(column: ColumnType, values: Any) -> Any:
    import pyarrow as pa

    try:
        return values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise UsageError(
            f"`{column.name}` is {column.type}, which cannot be a name", hint="name another column"
        ) from None


def _same(value: object, of: Any, count: int) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, of), count)


def _lists(values: Any) -> Any:
    """Wrap each value in a list."""
    import numpy as np
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1, dtype=np.int32)), values)
