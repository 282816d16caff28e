"""Read a manifest: a file with a row of external facts on each trace, such as its date, host, build or label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.errors import TraceError, reason_of
from dctv.home import expanded
from dctv.record import record
from dctv.types.schema import DURATION, TS, ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

Value = str | int | float | bool | None
"""A value; dates and times are texts."""
_KEYS = ("_trace", "trace", "path", "file")
"""Possible names of the column that names the traces."""
_MOST_BYTES = 256 << 20


@record
class Manifest:
    """A manifest: values by trace."""

    path: str
    columns: Sequence[ColumnType]
    """Its columns, except the one that names the traces."""
    rows: Mapping[str, Mapping[str, Value]]
    """By trace: values by column, without those that are missing."""

    def of(self, name: str, path: str) -> Mapping[str, Value]:
        """Return the values of a trace, given its name and its absolute path."""
        return next((self.rows[one] for one in _names_of(name, path) if one in self.rows), {})

    def unknown(self, traces: Mapping[str, str]) -> list[str]:
        """Return the traces of the file that are not among some, whose paths are given by name."""
        known = {one for name, path in traces.items() for one in _names_of(name, path)}
        return [one for one in self.rows if one not in known]


def _names_of(name: str, path: str) -> Iterator[str]:
    """Yield what a file may call a trace: the ends of its path, too, so the folder that one mounts from is the same."""
    yield name
    *folders, last = Path(path).parts
    for start in range(len(folders) + 1):
        yield str(Path(*folders[start:], last))


def read_manifest(text: str, base: Path | None) -> Manifest:
    """Read a CSV or Parquet file.

    Raises:
        TraceError: it cannot be read, does not name its traces, names one twice, or has a column `_ts` or `_duration`.
    """
    table = _table(text, Path(base or "") / expanded(text))
    key = next((one for name in _KEYS for one in table.column_names if one.lower() == name), None)
    if key is None:
        found = ", ".join(table.column_names)
        raise TraceError(f"`{text}` has no column that names traces, found {found}", hint="call it `trace`")
    others = [name for name in table.column_names if name != key]
    for name in others:
        if name.lower() in (TS, DURATION):
            raise TraceError(
                f"`{text}` has a column `{name}`, which tables have for the times of rows", hint="rename it"
            )
    columns = [ColumnType(name, _type(text, table.schema.field(name))) for name in others]
    rows: dict[str, Mapping[str, Value]] = {}
    for row in _with_times_as_texts(table).to_pylist():
        given = row.pop(key)
        values = {name: value for name, value in row.items() if value is not None}
        if given is None:
            if values:
                raise TraceError(f"`{text}` has a row without the name of a trace")
            continue
        trace = _trace(given)
        if trace in rows:
            raise TraceError(f"`{text}` has two rows of `{trace}`")
        rows[trace] = values
    return Manifest(text, columns, rows)


def _trace(value: Any) -> str:
    """Return a trace as patterns name it: a folder without a slash at its end."""
    return str(value).removeprefix("./").rstrip("/") or str(value)


def _table(text: str, path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise TraceError(f"`{text}` is too large for a manifest: it has more than {_MOST_BYTES >> 20} MiB")
        table = _decoded(parquet.read_table(path)) if path.suffix == ".parquet" else _of_csv(text, path)
    except OSError as error:
        raise TraceError(f"cannot read `{text}`: {reason_of(error)}") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise TraceError(f"`{text}` is no manifest: {str(error).splitlines()[0].lower()}") from None
    names = [name.lower() for name in table.column_names]
    if len(set(names)) < len(names):
        raise TraceError(f"`{text}` has two columns of one name")
    return table


def _of_csv(text: str, path: Path) -> pa.Table:
    """Read a CSV file; names of traces are texts, such as `007`, and empty fields are NULL, as in CSV files of rows.

    Raises:
        TraceError: a column is not UTF-8.
    """
    import pyarrow as pa
    from pyarrow import compute, csv

    lines = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(path, parse_options=lines) as begun:
        keys = [name for name in begun.schema.names if name.lower() in _KEYS]
    # Arrow would also read names such as `NA` and `null` as NULL.
    values = csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string()), null_values=[""])
    table = csv.read_csv(path, parse_options=lines, convert_options=values)
    floating = [place for place, field in enumerate(table.schema) if pa.types.is_floating(field.type)]
    if floating:
        names = [table.schema.field(place).name for place in floating]
        kinds = dict.fromkeys((*keys, *names), pa.string())
        values = csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True)
        texts = csv.read_csv(path, parse_options=lines, convert_options=values)
        for place, name in zip(floating, names, strict=True):
            table = table.set_column(place, name, _exact(table.column(place), texts.column(place)))
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise TraceError(f"column `{field.name}` of `{text}` is not UTF-8", hint="save the manifest as UTF-8")
    return _changed(
        table,
        pa.types.is_string,
        lambda column: compute.if_else(compute.equal(column, ""), pa.scalar(None, pa.string()), column),
    )


def _exact(numbers: pa.ChunkedArray, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers that Arrow read as floats, since some do not fit into INT64, as UINT64, or else as texts."""
    import pyarrow as pa
    from pyarrow import compute

    if not compute.all(compute.match_substring_regex(texts, "^-?[0-9]+$")).as_py():
        return numbers
    try:
        return texts.cast(pa.uint64())
    except pa.ArrowInvalid:
        return texts


def _decoded(table: pa.Table) -> pa.Table:
    """Return a table with values in place of their numbers in a dictionary."""
    import pyarrow as pa

    return _changed(table, pa.types.is_dictionary, lambda column: column.cast(column.type.value_type))


def _with_times_as_texts(table: pa.Table) -> pa.Table:
    """Return a table with texts in place of dates and times, which Python has in microseconds only."""
    import pyarrow as pa

    return _changed(table, pa.types.is_temporal, lambda column: column.cast(pa.string()))


def _changed(table: pa.Table, which: Callable[[pa.DataType], bool], change: Callable[[Any], Any]) -> pa.Table:
    for place, field in enumerate(table.schema):
        if which(field.type):
            table = table.set_column(place, field.name, change(table.column(place)))
    return table


def _type(text: str, field: pa.Field) -> str:
    import pyarrow as pa

    kind = field.type
    checks = (
        (pa.types.is_boolean, "BOOLEAN"),
        (pa.types.is_uint64, "UBIGINT"),
        (pa.types.is_integer, "BIGINT"),
        (pa.types.is_floating, "DOUBLE"),
        (pa.types.is_string, "VARCHAR"),
        (pa.types.is_large_string, "VARCHAR"),
        (pa.types.is_date, "DATE"),
        (pa.types.is_time, "TIME"),
        (lambda one: pa.types.is_timestamp(one) and one.tz is not None, "TIMESTAMP WITH TIME ZONE"),
        (lambda one: one == pa.timestamp("ns"), "TIMESTAMP_NS"),
        (pa.types.is_timestamp, "TIMESTAMP"),
        (pa.types.is_null, "VARCHAR"),
    )
    for check, name in checks:
        if check(kind):
            return name
    raise TraceError(f"`{text}` has a column `{field.name}` of `{kind}`", hint="columns of a manifest are plain values")
