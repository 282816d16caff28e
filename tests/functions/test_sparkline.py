"""Sparklines of random lists, compared with a few lines of exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import dctv
from tests.bounds import bounded

BLOCKS = "▁▂▃▄▅▆▇█"
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
# Multiples of 1/64, so that no difference or quotient at an eighth is rounded.
FLOATS = st.integers(-(2**20), 2**20).map(lambda n: n / 64) | st.sampled_from([math.inf, -math.inf, math.nan])


def expected(values: Sequence[float | None] | None) -> str | None:
    if values is None:
        return None
    finite = [Fraction(one) for one in values if one is not None and math.isfinite(one)]
    return "".join(" " if one is None or math.isnan(one) else BLOCKS[level(one, finite)] for one in values)


def level(one: float, finite: list[Fraction]) -> int:
    if math.isinf(one):
        return 7 if one > 0 else 0
    least, greatest = min(finite), max(finite)
    return 0 if least == greatest else min(7, math.floor(8 * (Fraction(one) - least) / (greatest - least)))


@given(st.lists(st.none() | st.lists(st.none() | INTEGERS)), st.lists(st.none() | st.lists(st.none() | FLOATS)))
@bounded(120)
def test_each_number_has_the_block_of_its_eighth(
    whole: list[list[int | None] | None], floats: list[list[float | None] | None]
) -> None:
    with dctv.Session() as session:
        session.add_table("whole", pa.table({"x": pa.array(whole, pa.list_(pa.int64()))}))
        session.add_table("floats", pa.table({"x": pa.array(floats, pa.list_(pa.float64()))}))
        for name, lists in (("whole", whole), ("floats", floats)):
            found = session.sql(f"SELECT sparkline(x) AS line FROM {name}").arrow()["line"].to_pylist()
            assert found == [expected(one) for one in lists]
