"""Tracks below tracks: a timeline has them there, however their descriptors are linked."""

from __future__ import annotations

from typing import Any

from tests.readers.perfetto.perfetto_reading import ask, written

EVENTS = "type: TYPE_SLICE_BEGIN track_uuid: {0} name: 'on {0}'"
PATHS = "SELECT DISTINCT name, path FROM t.timeline.async_slices ORDER BY name"


def _track(uuid: int, name: str, more: str = "") -> str:
    return f"packet {{ trusted_packet_sequence_id: 1 track_descriptor {{ uuid: {uuid} name: '{name}' {more} }} }}"


def _slice(uuid: int, ts: int = 10) -> str:
    return (
        f"packet {{ trusted_packet_sequence_id: 1 timestamp: {ts} track_event {{ {EVENTS.format(uuid)} }} }}"
        f" packet {{ trusted_packet_sequence_id: 1 timestamp: {ts + 5}"
        f" track_event {{ type: TYPE_SLICE_END track_uuid: {uuid} }} }}"
    )


def _asked(query: str, *packets: str) -> list[tuple[Any, ...]]:
    return ask(written(" ".join(packets)), query)


def test_tracks_are_below_their_parents() -> None:
    process = (
        "packet { trusted_packet_sequence_id: 1 track_descriptor { uuid: 1 process { pid: 7 process_name: 'app' } } }"
    )
    thread = (
        "packet { trusted_packet_sequence_id: 1"
        " track_descriptor { uuid: 2 thread { pid: 7 tid: 8 thread_name: 'io' } } }"
    )
    found = _asked(
        PATHS,
        process,
        thread,
        _track(3, "of process", "parent_uuid: 1"),
        _track(4, "below", "parent_uuid: 3"),
        _track(5, "deep", "parent_uuid: 4"),
        _track(6, "of thread", "parent_uuid: 2"),
        _track(7, "root"),
        _track(8, "leaf", "parent_uuid: 7"),
        *map(_slice, range(3, 9)),
    )
    app = ["Processes", "app (7)"]
    assert found == [
        ("on 3", [*app, "of process"]),
        ("on 4", [*app, "of process", "below"]),
        ("on 5", [*app, "of process", "below", "deep"]),
        ("on 6", [*app, "io (8)", "of thread"]),
        ("on 7", ["Tracks", "root"]),
        ("on 8", ["Tracks", "root", "leaf"]),
    ]


def test_counters_and_instants_are_below_their_tracks() -> None:
    def value(uuid: int, ts: int) -> str:
        return (
            f"packet {{ trusted_packet_sequence_id: 1 timestamp: {ts}"
            f" track_event {{ type: TYPE_COUNTER track_uuid: {uuid} counter_value: 1 }} }}"
        )

    found = _asked(
        "SELECT path FROM t.timeline.counters UNION ALL SELECT path FROM t.timeline.instants ORDER BY path",
        _track(1, "root"),
        _track(2, "load", "parent_uuid: 1 counter {}"),
        _track(3, "top", "counter {}"),
        _track(4, "below", "parent_uuid: 3"),
        value(2, 10),
        value(3, 10),
        "packet { trusted_packet_sequence_id: 1 timestamp: 20 track_event { type: TYPE_INSTANT track_uuid: 4 } }",
    )
    assert found == [
        (["Counters", "top"],),
        (["Counters", "top", "below", "Instants"],),
        (["Tracks", "root", "load"],),
    ]


def test_circles_and_missing_parents_are_flat() -> None:
    found = _asked(
        PATHS,
        _track(1, "a", "parent_uuid: 2"),
        _track(2, "b", "parent_uuid: 1"),
        _track(3, "below a circle", "parent_uuid: 2"),
        _track(4, "itself", "parent_uuid: 4"),
        _track(5, "orphan", "parent_uuid: 99"),
        *map(_slice, range(1, 6)),
    )
    names = ["a", "b", "below a circle", "itself", "orphan"]
    assert found == [(f"on {number}", ["Tracks", name]) for number, name in enumerate(names, 1)]


def test_no_slice_is_lost_however_deep_tracks_are() -> None:
    deep = [_track(number, f"t{number}", f"parent_uuid: {number - 1}") for number in range(1, 400)]
    found = _asked(PATHS, *deep, *map(_slice, range(1, 400)))
    assert len(found) == 399
    lengths = {name: len(path) for name, path in found}
    assert [lengths[f"on {number}"] for number in (1, 61, 62, 399)] == [2, 62, 2, 2]


def test_the_timeline_has_the_tree() -> None:
    packets = [_track(1, "root"), _track(2, "child", "parent_uuid: 1"), _slice(1), _slice(2)]
    found = _asked("SELECT depth, name, kind, rows FROM t.timeline ORDER BY track", *packets)
    assert found == [(0, "Tracks", "group", 0), (1, "root", "slices", 1), (2, "child", "slices", 1)]
