"""Departition with aggregates against the departition's pieces, aggregated in plain Python."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.aggregates import aggregate, numbers
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, make, rows, span_tables

FUNCTIONS = ["sum", "count", "min", "max", "avg", "time_sum", "time_known"]


def depart(table: Any, parts: int, keep: list[int], intersect: Any, calls: Any) -> list[Row]:
    names = ["_ts", "_duration", *(f"k{k}" for k in keep), *(f"a{n}" for n in range(len(calls)))]
    options: dict[str, Any] = {"partitions": parts, "keep": keep, "intersect": intersect}
    return rows(kernels.departition(table, **options, aggregates=calls, names=names))


def pieces(table: Any, parts: int, keep: list[int], intersect: Any) -> list[Row]:
    names = ["interval", "_ts", "_duration", *(f"k{n}" for n in range(parts)), "value"]
    return rows(kernels.partition_pieces(table, partitions=parts, keep=keep, intersect=intersect, names=names))


@UNTIMED
@given(
    data=st.data(),
    keys=st.sampled_from([keys for keys in KEY_SETS if keys]),
    kind=st.sampled_from([pa.int64(), pa.int16(), pa.float64(), pa.float32()]),
    intersect=st.booleans(),
)
def test_oracle(data: st.DataObject, keys: list[str], kind: pa.DataType, *, intersect: bool) -> None:
    table = numbers(data.draw(span_tables(keys, "value")), kind)
    keep = data.draw(st.lists(st.integers(0, len(keys) - 1), unique=True))
    parts = len(keys)
    calls: list[tuple[str, int | str | None]] = [*((function, 0) for function in FUNCTIONS), ("count", None)]
    calls += [(function, "_duration") for function in FUNCTIONS]
    tuples = table.whole().select(range(2, 2 + parts)) if intersect else None
    found = depart(table.whole(), parts, keep, tuples, calls)
    assert found == depart(table.cut(), parts, keep, tuples, calls)
    stretches: dict[int, list[Row]] = {}
    for row in pieces(table.whole(), parts, keep, tuples):
        stretches.setdefault(row[0], []).append(row)
    wanted = []
    for group in stretches.values():
        values = [(row[1], row[2], row[-1]) for row in group]
        head = (group[0][1], group[0][2], *(group[0][3 + k] for k in keep))
        timed = [(ts, duration, duration) for ts, duration, _value in values]
        own = [aggregate(function, timed) for function in FUNCTIONS]
        wanted.append((*head, *(aggregate(function, values) for function in FUNCTIONS), len(values), *own))
    assert found == wanted


def test_types_of_results() -> None:
    for kind, found in ((pa.int16(), pa.int64()), (pa.float32(), pa.float64())):
        table = make("_ts _duration k0 value", [(0, 1, 0, 3)], value=kind).whole()
        calls: Any = [(function, 0) for function in FUNCTIONS]
        names = ["_ts", "_duration", *FUNCTIONS]
        stream = kernels.departition(table, partitions=1, keep=[], aggregates=calls, names=names)
        types = pa.schema(stream).types
        assert types[2:7] == [found, pa.int64(), kind, kind, pa.float64()]


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    big = (1 << 63) - 1
    table = make("_ts _duration k0 value", [(0, 5, 0, big), (3, 5, 1, 1)]).whole()
    with pytest.raises(pa.ArrowInvalid, match="the sum at 3 exceeds Int64: 9223372036854775808"):
        depart(table, 1, [], None, [("sum", 0)])
    assert depart(table, 1, [], None, [("avg", 0)])[1] == (3, 2, float(big + 1) / 2)
    table = make("_ts _duration k0 value", [(0, big, 0, big)]).whole()
    assert depart(table, 1, [], None, [("time_sum", 0)]) == [(0, big, big * big)]
    table = make("_ts _duration k0 value", [(0, big, 0, big), (0, big, 1, big)]).whole()
    with pytest.raises(pa.ArrowInvalid, match="integer overflow: the sum over time at 0 has more than 38 digits"):
        depart(table, 1, [], None, [("time_sum", 0)])


def test_wrong_aggregates_are_refused() -> None:
    table = make("_ts _duration k0 value", [], value=pa.string()).whole()
    with pytest.raises(ValueError, match=r'^aggregate is "mode", expected sum, wide_sum, count, min,'):
        depart(table, 1, [], None, [("mode", 0)])
    with pytest.raises(ValueError, match=r"^cannot aggregate Utf8, expected integers up to Int64 or floats$"):
        depart(table, 1, [], None, [("sum", 0)])
    with pytest.raises(ValueError, match=r"^the payload has no column 1$"):
        depart(table, 1, [], None, [("count", 1)])
