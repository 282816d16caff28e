"""Flows through slices of threads and of other tracks, through instants, and recorded at ends."""

from __future__ import annotations

from tests.readers.perfetto.perfetto_reading import ask, written

HEAD = """
packet { track_descriptor { uuid: 1 thread { pid: 1 tid: 1 } } }
packet { track_descriptor { uuid: 2 thread { pid: 2 tid: 2 } } }
packet { track_descriptor { uuid: 3 name: "async" } }
"""


def event(ts: int, fields: str, track: int = 1) -> str:
    return f"packet {{ timestamp: {ts} track_event {{ track_uuid: {track} {fields} }} }}\n"


def begin(ts: int, name: str, track: int = 1, more: str = "") -> str:
    return event(ts, f'type: TYPE_SLICE_BEGIN name: "{name}" {more}', track)


def end(ts: int, track: int = 1, more: str = "") -> str:
    return event(ts, f"type: TYPE_SLICE_END {more}", track)


def arrows(*events: str, columns: str = "from_name, to_name") -> list[tuple[object, ...]]:
    return ask(written(HEAD + "".join(events)), f"SELECT {columns} FROM t.flows")


def test_one_point_may_lead_to_several_ends() -> None:
    """As Chrome's newer ids do: an end does not end the flow."""
    bound = "legacy_event { bind_id: 5 flow_direction: FLOW_%s }"
    found = arrows(
        begin(10, "out", more=bound % "OUT"),
        begin(20, "in 1", 2, bound % "IN"),
        end(25, 2),
        begin(30, "through", 2, bound % "INOUT"),
        begin(40, "in 2", 3, bound % "IN"),
    )
    assert found == [("out", "in 1"), ("out", "through"), ("through", "in 2")]


def test_flow_ids_continue_until_terminated() -> None:
    found = arrows(
        begin(10, "a", more="flow_ids: 1 flow_ids: 2"),
        begin(20, "b", 2, "flow_ids: 1"),
        begin(30, "c", 3, "terminating_flow_ids: 1 terminating_flow_ids: 2 terminating_flow_ids: 9"),
        begin(40, "d", 2, "flow_ids: 1"),
        begin(50, "e", 1, "flow_ids: 1 flow_ids_old: 1"),
    )
    assert found == [("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")]


def test_ends_and_moments_are_points_too() -> None:
    found = arrows(
        begin(10, "thread", 1),
        begin(12, "inner", 1),
        event(15, 'type: TYPE_INSTANT name: "moment" flow_ids: 7', 2),
        end(20, 1, "flow_ids: 7"),
        end(20, 1),
        begin(25, "async", 3),
        end(30, 3, "terminating_flow_ids: 7"),
        columns="unitless(from_ts), from_kind, from_name, unitless(to_ts), to_kind, to_name",
    )
    assert found == [
        (2, "slice", "inner", 5, "instant", "moment"),
        (10, "slice", "inner", 20, "async", "async"),
    ]


def test_an_arrow_starts_at_the_earlier_slice() -> None:
    """A flow may be recorded at the end of a slice that began before the slice of its first record."""
    found = arrows(
        begin(50, "a", 3),
        begin(100, "b", 2, "flow_ids: 42"),
        end(200, 2),
        end(400, 3, "flow_ids: 42"),
        columns="from_name, unitless(from_ts), to_name, unitless(to_ts)",
    )
    assert found == [("a", 0, "b", 50)]


def test_moments_have_numbers_that_flows_name() -> None:
    data = written(HEAD + "".join(event(ts, f'type: TYPE_INSTANT name: "m{ts}" flow_ids: 1') for ts in (10, 20)))
    query = (
        "SELECT a.name, b.name FROM t.flows f JOIN t.instants a ON a.id = f.from_id JOIN t.instants b ON b.id = f.to_id"
    )
    assert ask(data, query) == [("m10", "m20")]
