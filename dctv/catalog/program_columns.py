"""Fit the columns of a program's Arrow data to the engine: durations become exact numbers with their unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dctv.contracts.engine import Engine
from dctv.errors import EngineError, UsageError
from dctv.plan.build import STAR, select
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    import pyarrow as pa

_SOURCE = "given"
_CASTS = {"halffloat": "float32", "decimal256": "decimal128 or float64"}
"""Types that the engine does not read, and those that hold (nearly) the same values."""


def fitted(data: Any, units: Mapping[str, str]) -> Any:
    """Return a Table or Dataset whose durations are integers with a unit in the metadata of the field.

    The engine's own type for them, INTERVAL, has microseconds.

    Raises:
        UsageError: a column has no name, another unit than its durations, or durations that cannot become integers.
    """
    import pyarrow as pa

    for index, field in enumerate(data.schema):
        if not field.name:
            raise UsageError(f"column {index + 1} of the table has an empty name", hint="rename it")
        if pa.types.is_duration(field.type):
            data = _with_integers(data, index, units)
        elif any(pa.types.is_duration(one) and one.unit == "ns" for one in _parts(field.type)):
            raise UsageError(
                f"the column `{field.name}` has the type {field.type}, whose durations would be cut to microseconds",
                hint="cast them to int64 or duration('us')",
            )
    return data


def _with_integers(data: Any, index: int, units: Mapping[str, str]) -> pa.Table:
    import pyarrow as pa

    field = data.schema.field(index)
    own = field.type.unit
    if parse_unit(units.get(field.name) or own) != parse_unit(own):
        raise UsageError(
            f"the column `{field.name}` has durations in {own}, found the unit `{units[field.name]}` for it",
            hint=f"leave it out, and write `{field.name} IN {units[field.name]}` in queries",
        )
    if not isinstance(data, pa.Table):
        raise UsageError(
            f"the column `{field.name}` of the dataset has durations",
            hint="add dataset.to_table() instead, or store it as int64",
        )
    made = pa.field(field.name, pa.int64(), field.nullable, {**(field.metadata or {}), b"unit": own.encode()})
    return data.set_column(index, made, data.column(index).cast(pa.int64()))


def _parts(made: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type and those within it."""
    yield made
    for index in range(made.num_fields):
        yield from _parts(made.field(index).type)
    for wrapped in ("value_type", "storage_type"):
        if not made.num_fields and hasattr(made, wrapped):
            yield from _parts(getattr(made, wrapped))


def engine_types(data: Any, engine: Engine) -> list[str]:
    """Return the engine's types of all columns.

    Raises:
        UsageError: it cannot read one of them.
    """
    try:
        return _described(data, engine)
    except EngineError:
        for field in data.schema:
            _check(field, engine)
        raise


def _described(data: Any, engine: Engine) -> list[str]:
    return [type_name for _, type_name in engine.describe(select(STAR, source=_SOURCE), {_SOURCE: data})]


def _check(field: pa.Field, engine: Engine) -> None:
    import pyarrow as pa

    try:
        _described(pa.schema([field]).empty_table(), engine)
    except EngineError:
        shown = str(field.type)
        cast = next((to for kind, to in _CASTS.items() if kind in shown), "another type")
        raise UsageError(
            f"the column `{field.name}` has the type {shown}, which the engine cannot read", hint=f"cast it to {cast}"
        ) from None
