"""Read Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.plan.build import call
from dctv.plan.expressions import FALSE, TRUE, Expression, Keyword, List, Text
from dctv.plan.queries import TableCall
from dctv.sandbox import escaped

CAN_HAVE_NAN = Keyword("can_have_nan", TRUE)
"""Without it the engine trusts statistics of floats, which leave NaN out and may say -0.0 for 0.0."""
_PLAIN = {"hive_partitioning": FALSE, "filename": FALSE, "union_by_name": FALSE}


def parquet(
    files: str | Sequence[str], options: Mapping[str, Expression] = _PLAIN, alias: str | None = None
) -> TableCall:
    """Return the rows of a file, or of several one after another; paths and file names add no columns."""
    paths = Text(escaped(files)) if isinstance(files, str) else List(tuple(Text(escaped(one)) for one in files))
    keywords = (Keyword(name, value) for name, value in options.items())
    return TableCall(call("read_parquet", paths, *keywords, CAN_HAVE_NAN), alias)
