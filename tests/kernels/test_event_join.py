"""The event join against an oracle that looks at all spans for each event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, Table, covering, event_tables, make, rows, span_tables


def oracle(events: Table, spans: Table, how: str, parts: int, broadcast: str | None) -> list[Row]:
    """Look up the covering span of each event, in each partition that the event belongs to."""
    out: list[Row] = []
    for event in events.rows:
        here = event[1 : 1 + parts]
        keys = sorted({span[2 : 2 + parts] for span in spans.rows}, key=str) if broadcast == "left" else [here]
        for key in keys:
            span = covering(spans, 0 if broadcast == "right" else parts, () if broadcast == "right" else key, event[0])
            if span or how == "left":
                out.append((event[0], *key, event[-1], span and span[-1]))
    return out


def join(events: Any, spans: Any, how: Any, parts: int, broadcast: Any) -> list[Row]:
    names = ["_ts", *(f"k{number}" for number in range(parts)), "event", "span"]
    return rows(kernels.event_join(events, spans, how=how, partitions=parts, broadcast=broadcast, names=names))


FORMS = [("inner", None), ("left", None), ("inner", "right"), ("left", "right"), ("inner", "left")]


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.sampled_from(FORMS))
def test_oracle(data: st.DataObject, keys: list[str], form: tuple[str, str | None]) -> None:
    how, broadcast = form
    keys = keys or (["int"] if broadcast else [])
    events = data.draw(event_tables([] if broadcast == "left" else keys, "event"))
    spans = data.draw(span_tables([] if broadcast == "right" else keys, "span"))
    found = join(events.whole(), spans.whole(), how, len(keys), broadcast)
    assert found == join(events.cut(), spans.cut(), how, len(keys), broadcast)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    wanted = oracle(events, spans, how, len(keys), broadcast)
    if broadcast == "left":
        found, wanted = sorted(found, key=repr), sorted(wanted, key=repr)
    assert found == wanted


def test_a_span_covers_its_first_moment_but_not_its_end() -> None:
    spans = make("_ts _duration v", [(10, 5, 1)]).whole()
    events = make("_ts v", [(9, 1), (10, 2), (14, 3), (15, 4)]).whole()
    assert join(events, spans, "inner", 0, None) == [(10, 2, 1), (14, 3, 1)]
    assert join(events, spans, "left", 0, None) == [(9, 1, None), (10, 2, 1), (14, 3, 1), (15, 4, None)]


def test_events_at_the_end_of_time() -> None:
    last = (1 << 63) - 1
    spans = make("_ts _duration v", [(last - 5, 5, 1)]).whole()
    events = make("_ts v", [(last - 1, 1), (last, 2)]).whole()
    assert join(events, spans, "left", 0, None) == [(last - 1, 1, 1), (last, 2, None)]


def test_forms_that_have_no_meaning_are_refused() -> None:
    table = make("_ts _duration v", []).whole()
    with pytest.raises(ValueError, match=r'^how="left" with broadcast=Some\("left"\) is no event join$'):
        join(table, table, "left", 0, "left")
