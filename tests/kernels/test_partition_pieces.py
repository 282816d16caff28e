"""Departition pieces against an oracle over single nanoseconds, and the manual's diagrams."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import HORIZON, KEY_SETS, UNTIMED, Row, Table, covering, make, rows, span_tables


def oracle(table: Table, parts: int, keep: list[int], *, intersect: bool) -> list[Row]:
    """Give for each kept key and each stretch with the same set of spans that set."""
    keys = list(dict.fromkeys(row[2 : 2 + parts] for row in table.rows))
    out: list[Row] = []
    for kept in {tuple(key[k] for k in keep) for key in keys}:
        mine = [key for key in keys if tuple(key[k] for k in keep) == kept]
        start, before = 0, frozenset[Row]()
        for t in range(HORIZON):
            spans = frozenset(span for key in mine if (span := covering(table, parts, key, t)))
            if spans != before:
                if before and not (intersect and len(before) < len(mine)):
                    out += [(start, t - start, *span[2:]) for span in before]
                start, before = t, spans
    return out


def pieces(table: Any, parts: int, keep: list[int], intersect: Any = None) -> list[Row]:
    names = ["interval", "_ts", "_duration", *(f"k{number}" for number in range(parts)), "value"]
    return rows(kernels.partition_pieces(table, partitions=parts, keep=keep, intersect=intersect, names=names))


@UNTIMED
@given(data=st.data(), keys=st.sampled_from([keys for keys in KEY_SETS if keys]), intersect=st.booleans())
def test_oracle(data: st.DataObject, keys: list[str], *, intersect: bool) -> None:
    table = data.draw(span_tables(keys, "value"))
    keep = data.draw(st.lists(st.integers(0, len(keys) - 1), unique=True))
    parts = len(keys)
    tuples = table.whole().select(range(2, 2 + parts)) if intersect else None
    found = [pieces(one, parts, keep, tuples) for one in (table.whole(), table.cut())]
    assert found[0] == found[1]
    wanted = oracle(table, parts, keep, intersect=intersect)
    assert sorted((row[1:] for row in found[0]), key=repr) == sorted(wanted, key=repr)
    numbers = [row[0] for row in found[0]]
    assert sorted(set(numbers)) == list(range(len(set(numbers))))
    kept = {(row[0], row[1], row[2], *(row[3 + k] for k in keep)) for row in found[0]}
    assert len(kept) == len(set(numbers))
    if not keep:
        assert [row[1] for row in found[0]] == sorted(row[1] for row in found[0])


def sums(found: list[Row]) -> list[Row]:
    out: dict[Row, int] = {}
    for row in found:
        out[row[1:3]] = out.get(row[1:3], 0) + row[-1]
    return [(*key, total) for key, total in out.items()]


def test_diagram_of_the_departition() -> None:
    names = "_ts _duration k0 value"
    arms = [(1, 2, 0, 2), (1, 4, 1, 2), (3, 2, 0, 7), (5, 1, 0, 4), (5, 4, 1, 4), (6, 2, 0, 9), (8, 1, 0, 0)]
    found = sums(pieces(make(names, arms).whole(), 1, []))
    assert found == [(1, 2, 4), (3, 2, 9), (5, 1, 8), (6, 2, 13), (8, 1, 4)]


def test_diagram_of_missing_data_by_union_and_intersection() -> None:
    table = make("_ts _duration k0 value", [(1, 2, 1, 2), (2, 1, 0, 7), (3, 1, 0, 4), (5, 2, 0, 9), (7, 2, 0, 0)])
    whole = table.whole()
    assert sums(pieces(whole, 1, [])) == [(1, 1, 2), (2, 1, 9), (3, 1, 4), (5, 2, 9), (7, 2, 0)]
    assert sums(pieces(whole, 1, [], whole.select(["k0"]))) == [(2, 1, 9)]


def test_a_kept_column_must_exist() -> None:
    with pytest.raises(ValueError, match=r"^there is no partition column 1 to keep$"):
        pieces(make("_ts _duration k0 value", []).whole(), 1, [1])
