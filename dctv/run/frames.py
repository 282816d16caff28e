"""Make data frames of Arrow tables; their packages are imported by name, with a hint to install a missing one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dctv.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame


def check_installed(package: str) -> None:
    """Check that a package of frames is installed, before rows are read.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import_module(package)
    except ImportError:
        hint = f"pip install 'dctv[{package}]'"
        raise UsageError(f"this requires {package}, which is not installed", hint=hint) from None


def pandas_frame(table: pa.Table) -> PandasFrame:
    """Return rows as a pandas frame; integers beside NULLs are nullable ones, as floats would lose digits."""
    import pandas
    import pyarrow as pa

    signed, unsigned = pandas.Int64Dtype(), pandas.UInt64Dtype()
    nullable = {pa.int64(): signed, pa.uint64(): unsigned}
    # By number: two columns may have one name.
    frame: PandasFrame = table.rename_columns([str(number) for number in range(table.num_columns)]).to_pandas()
    for number, column in enumerate(table.columns):
        if column.null_count and column.type in nullable:
            frame[str(number)] = column.to_pandas(types_mapper=nullable.get)
    frame.columns = pandas.Index(table.column_names)
    return frame


def polars_frame(table: pa.Table) -> PolarsFrame:
    """Return rows as a polars frame.

    Raises:
        UsageError: a column has intervals, of which polars knows none.
    """
    import polars
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_interval(field.type):
            hint = f"`{field.name} IN ns` or CAST({field.name} AS VARCHAR) can be"
            raise UsageError(f"the column `{field.name}` is an INTERVAL, which cannot be in a polars frame", hint=hint)
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame
