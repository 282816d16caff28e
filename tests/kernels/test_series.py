"""Series to spans against a replay in plain Python, and the manual's two diagrams."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, Table, event_tables, make, rows


def oracle(
    tables: list[Table], starts: list[bool], parts: int, edges: list[tuple[int, str]], end: int | None
) -> list[Row]:
    """Replay all events in order of time, stops first, and note what each span began and ended with."""
    events = [(row[0], starts[s], s, n, row) for s, table in enumerate(tables) for n, row in enumerate(table.rows)]
    opened: dict[Row, tuple[int, int, Row]] = {}
    out: list[tuple[int, int, Row]] = []

    def close(key: Row, t: int, source: int | None, row: Row | None) -> None:
        begun, at, first = opened.pop(key)
        picked = [(at, first) if edge == "rising" else (source, row) for _, edge in edges]
        values = [row[-1] if s == wanted and row else None for (s, row), (wanted, _) in zip(picked, edges, strict=True)]
        if t > first[0]:
            out.append((first[0], begun, (first[0], t - first[0], *key, *values)))

    for order, (t, start, source, _, row) in enumerate(sorted(events, key=lambda event: event[:4])):
        key = row[1 : 1 + parts]
        if key in opened:
            close(key, t, source, row)
        if start:
            opened[key] = (order, source, row)
    for key in list(opened):
        close(key, -1 if end is None else end, None, None)
    return [row for _, _, row in sorted(out, key=lambda entry: entry[:2])]


def convert(
    sources: list[Any], starts: list[bool], parts: int, edges: list[tuple[int, str]], end: int | None
) -> list[Row]:
    names = ["_ts", "_duration", *(f"k{n}" for n in range(parts)), *(f"c{n}" for n in range(len(edges)))]
    columns = [(source, 0, edge) for source, edge in edges]
    options: dict[str, Any] = {"starts": starts, "partitions": parts, "columns": columns, "close_at": end}
    return rows(kernels.series_to_spans(sources, **options, names=names))


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_oracle(data: st.DataObject, keys: list[str]) -> None:
    count = data.draw(st.integers(1, 3))
    tables = [data.draw(event_tables(keys, f"s{number}")) for number in range(count)]
    starts = [data.draw(st.booleans()) for _ in tables]
    edge = st.tuples(st.integers(0, count - 1), st.sampled_from(["rising", "falling"]))
    edges = data.draw(st.lists(edge, max_size=4))
    end = data.draw(st.none() | st.integers(0, 25))
    found = convert([table.whole() for table in tables], starts, len(keys), edges, end)
    assert found == convert([table.cut() for table in tables], starts, len(keys), edges, end)
    assert found == oracle(tables, starts, len(keys), edges, end)


SPELLS = make("_ts size", [(1, "tiny"), (3, "huge"), (4, "large"), (6, "huge")], size=pa.string())
RESETS = make("_ts x", [(5, 0), (7, 0)])


def test_diagram_of_starts_only() -> None:
    found = convert([SPELLS.whole()], [True], 0, [(0, "rising")], None)
    assert found == [(1, 2, "tiny"), (3, 1, "huge"), (4, 2, "large")]


def test_diagram_of_starts_and_stops() -> None:
    found = convert([SPELLS.whole(), RESETS.whole()], [True, False], 0, [(0, "rising")], None)
    assert found == [(1, 2, "tiny"), (3, 1, "huge"), (4, 1, "large"), (6, 1, "huge")]


def test_open_spans_can_be_closed() -> None:
    assert convert([SPELLS.whole()], [True], 0, [(0, "rising")], 9)[-1] == (6, 3, "huge")
    assert len(convert([SPELLS.whole()], [True], 0, [(0, "rising")], 6)) == 3


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^source 0 has no column 0$"):
        convert([make("_ts", []).whole()], [True], 0, [(0, "rising")], None)
    with pytest.raises(ValueError, match=r'^edge is "up", expected "rising" or "falling"$'):
        convert([SPELLS.whole()], [True], 0, [(0, "up")], None)
    with pytest.raises(ValueError, match=r"^1 sources and 2 starts, expected as many, at least one$"):
        convert([SPELLS.whole()], [True, True], 0, [], None)
