"""Read Parquet files as tables; units that dctv wrote into field metadata are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable


def sniff(head: Head) -> bool:
    """Whether it begins with Parquet's magic."""
    return head.raw.startswith(b"PAR1")


def _tables(file: PlainFile) -> list[PlainTable]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dctv.plan.build import STAR, select
    from dctv.plan.parquet import parquet
    from dctv.readers.plain_files.tables import PlainTable, name_of, units_of

    try:
        schema = pq.read_schema(file.path)
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"cannot read `{file.path}`: {str(error).partition('. ')[0].lower()}") from None
    rows = select(STAR, source=parquet(str(file.path), {}))
    return [PlainTable(file.number, name_of(file.path), rows, units=units_of(schema), typed=True)]


READER = Described(
    name="parquet",
    title="tables in Parquet (.parquet)",
    suffixes=(".parquet",),
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
