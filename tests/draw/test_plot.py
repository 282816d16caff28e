"""Results of queries as timelines and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dctv.errors import UsageError
from dctv.session import Session
from dctv.timeline.timeline import Timeline

SPANS = "SELECT SPAN * FROM dctv.as_spans((SELECT * FROM (VALUES {}) AS v(_ts, _duration, {})){})"
BY_CPU = SPANS.format(
    "(0, 5, 10, 'a', 1.5), (2, 6, 9, 'b', 2.5), (8, 4, 9, NULL, NULL)", "cpu, comm, load", ", partition=>'cpu'"
)
BYTES = SPANS.format("(0, 5, 1), (5, 5, 3)", "size", "").replace("SPAN *", "SPAN size * 1KiB AS size")
EVENTS = "SELECT EVENT * FROM dctv.as_events((SELECT * FROM (VALUES (3, 'x'), (4, 'y')) AS v(_ts, what)))"
LISTS = EVENTS.replace("*", "LIST_VALUE(1) AS l", 1)
Told = list[tuple[str, str, int, str | None]]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session() as found:
        yield found


def told(timeline: Timeline) -> Told:
    """Return name, kind, rows and unit of each track."""
    return [(track.name, track.kind.value, track.rows, track.unit) for track in timeline.tracks]


def names(timeline: Timeline) -> list[str | None]:
    """Return what all cells are called, from nearby."""
    found: list[str | None] = timeline.cells(range(len(timeline.tracks)), -100, 100, 1)["name"].to_pylist()
    return found


def test_the_last_moment_is_in_the_picture(session: Session) -> None:
    # Windows have no part in their end, but nothing else has the moment at the end of all.
    assert session.sql(EVENTS).plot(name="what").svg().count("<title>y\n") == 1
    assert session.sql(EVENTS).timeline().end == 4
    assert session.sql(EVENTS).plot(name="what", stop=4).svg().count("<title>y\n") == 1
    assert session.sql(EVENTS.replace("4,", "5,")).plot(name="what", stop=4).svg().count("<title>y\n") == 0


@pytest.mark.parametrize(
    ("query", "columns", "tracks", "cells"),
    [
        (BY_CPU, {}, [("cpu 9", "slices", 2, None), ("cpu 10", "slices", 1, None)], ["b", None, "a"]),
        (BY_CPU, {"name": "cpu"}, [("cpu 9", "slices", 2, None), ("cpu 10", "slices", 1, None)], ["9", "9", "10"]),
        (
            BY_CPU,
            {"value": "load"},
            [("cpu 9", "counter", 2, None), ("cpu 10", "counter", 1, None)],
            [None] * 15,
        ),
        (BYTES, {}, [("size", "counter", 2, "KiB")], [None, None, None, None]),
        (EVENTS, {}, [("what", "instants", 2, None)], ["x", "y"]),
        (EVENTS.replace("*", "1 AS n", 1), {}, [("n", "instants", 2, None)], ["1", "1"]),
        (SPANS.format("(0, 5, TRUE)", "yes", ""), {}, [("yes", "slices", 1, None)], ["true"]),
        (SPANS.format("(0, 5, 1)", "n", "").replace("SPAN *", "SPAN"), {}, [("span", "slices", 1, None)], [None]),
    ],
)
def test_a_result_is_a_timeline(
    session: Session, query: str, columns: dict[str, Any], tracks: Told, cells: list[str | None]
) -> None:
    timeline = session.sql(query).timeline(**columns)
    assert told(timeline) == tracks
    if "value" not in columns and tracks[0][1] != "counter":
        assert names(timeline) == cells


def test_values_are_shown_over_time(session: Session) -> None:
    timeline = session.sql(BYTES).timeline()
    cells = timeline.cells([0], 0, 10, 10).to_pylist()
    assert [(cell["min"], cell["max"], cell["mean"], cell["last"]) for cell in cells] == [(1.0, 3.0, 2.0, 3.0)]
    assert timeline.cells([0], 0, 10, 5)["mean"].to_pylist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("query", "columns", "message", "hint"),
    [
        (
            "SELECT 1",
            {},
            "a regular table has no times, expected spans or events",
            "SELECT SPAN and SELECT EVENT keep times",
        ),
        (BY_CPU, {"name": "com"}, "the result has no column `com`", "did you mean `comm`?"),
        (BY_CPU, {"value": "comm"}, "`comm` is STRING, expected numbers", None),
        (
            EVENTS,
            {"value": "what"},
            "events have no duration, expected spans",
            "dctv.time_series_to_spans makes spans",
        ),
        (
            EVENTS.replace("*", "LIST_VALUE(1) AS l", 1),
            {},
            "`l` is INTEGER[], which cannot be a name",
            "name another column",
        ),
    ],
)
def test_invalid_timelines_are_refused(
    session: Session, query: str, columns: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as raised:
        session.sql(query).timeline(**columns)
    assert (raised.value.message, raised.value.hint) == (message, hint)


def test_a_plot_is_a_picture(session: Session, tmp_path: Path) -> None:
    plot = session.sql(BY_CPU).plot(width=400, title="CPUs & more", theme="dark")
    svg = plot._repr_svg_()
    tree = ET.fromstring(svg)
    assert tree.attrib["width"] == "400"
    assert {"CPUs & more", "cpu 9", "cpu 10"} <= {text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")}
    for ending, begin in ((".svg", b"<svg"), (".html", b"<!DOCTYPE html>"), (".png", b"\x89PNG")):
        plot.save(tmp_path / f"plot{ending}")
        assert (tmp_path / f"plot{ending}").read_bytes().startswith(begin)
    with pytest.raises(UsageError, match=r"must end in .svg, .png or .html"):
        plot.save(tmp_path / "plot.gif")
    with pytest.raises(UsageError, match=r"cannot write .*: No such file or directory"):
        plot.save(tmp_path / "missing" / "plot.svg")


def test_a_plot_of_a_part(session: Session) -> None:
    part = session.sql(BY_CPU).plot(start=1, stop=3).svg()
    assert "lasts 2 ns" in part
    with pytest.raises(UsageError, match="the window must end after it begins"):
        session.sql(BY_CPU).plot(start=3, stop=3)
    with pytest.raises(UsageError, match="the theme is `light` or `dark`, found `pink`"):
        session.sql(BY_CPU).plot(theme="pink")
    assert "no tracks" in session.sql(f"{EVENTS} WHERE FALSE").plot().svg()
