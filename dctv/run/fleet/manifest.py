"""Read a manifest: a file with a row of external facts on each trace, such as its date, host, build or label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.errors import TraceError
from dctv.record import record
from dctv.types.schema import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

Value = str | int | float | bool | date | time | None
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

    def of(self, name: str) -> Mapping[str, Value]:
        """Return the values of a trace, by its path, or else by its file name."""
        return self.rows.get(name) or self.rows.get(Path(name).name) or {}

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Return the traces of the file that are not among some."""
        known = {*names, *(Path(one).name for one in names)}
        return [one for one in self.rows if one not in known]


def read_manifest(text: str, base: Path | None) -> Manifest:
    """Read a CSV or Parquet file.

    Raises:
        TraceError: it cannot be read, names no traces, or names one twice.
    """
    table = _table(text, Path(base or "") / Path(text).expanduser())
    key = next((one for name in _KEYS for one in table.column_names if one.lower() == name), None)
    if key is None:
        found = ", ".join(table.column_names)
        raise TraceError(f"`{text}` has no column that names traces, found {found}", hint="call it `trace`")
    others = [name for name in table.column_names if name != key]
    columns = [ColumnType(name, _type(text, table.schema.field(name))) for name in others]
    rows: dict[str, Mapping[str, Value]] = {}
    for row in table.to_pylist():
        trace = _trace(row.pop(key))
        if trace in rows:
            raise TraceError(f"`{text}` has two rows of `{trace}`")
        rows[trace] = {name: value for name, value in row.items() if value is not None}
    return Manifest(text, columns, rows)


def _trace(value: Any) -> str:
    """Return a trace as patterns name it: a folder without a slash at its end."""
    return str(value).removeprefix("./").rstrip("/") or str(value)


def _table(text: str, path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise TraceError(f"`{text}` is too large for a manifest: it has more than {_MOST_BYTES >> 20} MiB")
        table = parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)
    except OSError as error:
        raise TraceError(f"cannot read `{text}`: {(error.strerror or str(error)).lower()}") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise TraceError(f"`{text}` is no manifest: {str(error).splitlines()[0].lower()}") from None
    names = [name.lower() for name in table.column_names]
    if len(set(names)) < len(names):
        raise TraceError(f"`{text}` has two columns of one name")
    return table


def _type(text: str, field: pa.Field) -> str:
    import pyarrow as pa

    kind = field.type
    checks = (
        (pa.types.is_boolean, "BOOLEAN"),
        (pa.types.is_integer, "BIGINT"),
        (pa.types.is_floating, "DOUBLE"),
        (pa.types.is_string, "VARCHAR"),
        (pa.types.is_large_string, "VARCHAR"),
        (pa.types.is_date, "DATE"),
        (pa.types.is_time, "TIME"),
        (pa.types.is_timestamp, "TIMESTAMP"),
        (pa.types.is_null, "VARCHAR"),
    )
    for check, name in checks:
        if check(kind):
            return name
    raise TraceError(f"`{text}` has a column `{field.name}` of `{kind}`", hint="columns of a manifest are plain values")
