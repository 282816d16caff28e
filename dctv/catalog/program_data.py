"""Turn data from the program into a scan: Arrow tables and datasets, pandas and polars frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.catalog.program_columns import engine_types, fitted
from dctv.contracts.engine import Engine
from dctv.errors import UsageError, nearest
from dctv.plan.nodes import Scan, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.source import RowsInMemory
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import parse_unit
from dctv.types.values import dialect_type, may_have_unit

_UNTYPED = '"NULL"'
"""The engine's type of columns that are NULL in all rows."""


def scan_of(name: str, data: Any, units: Mapping[str, str], engine: Engine) -> Scan:
    """Return a scan of data as a regular table; units of columns are given, or come from Arrow field metadata.

    Raises:
        UsageError: the data is not a table, a unit is given for a column that does not exist or has no numbers, or a
            column has no name, a type that the engine cannot read, or durations that cannot be kept exactly.
    """
    data = _rescannable(data)
    if not data.schema.names:
        raise UsageError("a table has at least one column, found none")
    _check_units(units, data.schema.names)
    data = fitted(data, units)
    types = engine_types(data, engine)
    columns = [
        ColumnType(f.name, type_name, _unit(f, type_name, units))
        for f, type_name in zip(data.schema, types, strict=True)
    ]
    return stored(name, Schema(Kind.REGULAR, tuple(columns)), data)


def stored(name: str, schema: Schema, data: Any) -> Scan:
    """Return a scan of data with a known schema; spans and events are sorted by time."""
    names = physical_names(schema)
    if list(data.schema.names) != names:
        if not hasattr(data, "rename_columns"):
            raise UsageError("two columns of the dataset differ only in case", hint="rename one, or read a table")
        data = data.rename_columns(names)
    return Scan(schema, RowOrder.TIME if schema.kind.time_columns else RowOrder.STABLE, name, RowsInMemory(data))


def _rescannable(data: Any) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(data, pa.Table | ds.Dataset):
        return data
    try:
        return pa.table(data)
    except (TypeError, ValueError, OverflowError, pa.ArrowInvalid) as error:
        kind = type(data).__name__
        raise UsageError(
            f"a table is a pyarrow Table or Dataset, a frame, or a dict of columns; found {kind}: {error}"
        ) from None


def _check_units(units: Mapping[str, str], names: list[str]) -> None:
    for name in units:
        if name not in names:
            near = nearest(name, names)
            raise UsageError(
                f"the table has no column `{name}` that could have a unit",
                hint=f"did you mean `{near}`?" if near else f"columns: {', '.join(names)}",
            )


def _unit(field: Any, type_name: str, units: Mapping[str, str]) -> Unit:
    """Return a column's unit; dctv writes no such metadata for columns without numbers."""
    fits = may_have_unit(type_name) or type_name.partition("[")[0] == _UNTYPED
    if field.name in units and not fits:
        shown = dialect_type(type_name)
        raise UsageError(f"the column `{field.name}` is {shown} and has no unit, found `{units[field.name]}`")
    text = units.get(field.name) or (field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace")
    return parse_unit(text) if text and fits else NO_UNIT
