"""The span join against an oracle that looks at every nanosecond, the manual's diagrams and hostile inputs."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, Table, covering, make, rows, span_tables

HORIZON = 64


def oracle(left: Table, right: Table, how: str, parts: int, broadcast: str | None) -> list[Row]:
    """Look at each nanosecond of each partition and join neighbours that show the same two rows."""
    own = {"left": [right], "right": [left], None: [left, right]}[broadcast]
    keys = {row[2 : 2 + parts] for table in own for row in table.rows}
    a_parts, b_parts = (0 if broadcast == side else parts for side in ("left", "right"))
    out: list[Row] = []
    for key in keys:
        seen: Any = None
        for t in range(HORIZON):
            a = covering(left, a_parts, key if a_parts else (), t)
            b = covering(right, b_parts, key if b_parts else (), t)
            wanted = {"inner": a and b, "outer": a or b, "left": a, "right": b}[how]
            if wanted and seen == (a, b):
                out[-1] = (out[-1][0], out[-1][1] + 1, *out[-1][2:])
            elif wanted:
                out.append((t, 1, *key, a and a[-1], b and b[-1]))
            seen = (a, b) if wanted else None
    return out


def names(parts: int) -> list[str]:
    return ["_ts", "_duration", *(f"k{number}" for number in range(parts)), "left", "right"]


def join(left: Any, right: Any, how: str, parts: int, broadcast: str | None = None) -> list[Row]:
    stream = kernels.span_join(left, right, how=how, partitions=parts, broadcast=broadcast, names=names(parts))
    return rows(stream)


FORMS = [("inner", None), ("outer", None), ("left", None), ("right", None)]
BROADCASTS = [("inner", "right"), ("left", "right"), ("inner", "left"), ("right", "left")]


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.sampled_from(FORMS + BROADCASTS))
def test_oracle(data: st.DataObject, keys: list[str], form: tuple[str, str | None]) -> None:
    how, broadcast = form
    keys = keys or (["int"] if broadcast else [])
    left = data.draw(span_tables([] if broadcast == "left" else keys, "left"))
    right = data.draw(span_tables([] if broadcast == "right" else keys, "right"))
    found = join(left.whole(), right.whole(), how, len(keys), broadcast)
    assert found == join(left.cut(), right.cut(), how, len(keys), broadcast)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    assert sorted(found, key=repr) == sorted(oracle(left, right, how, len(keys), broadcast), key=repr)
