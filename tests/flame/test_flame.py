"""`dctv flame`: pictures are XML that nothing in a trace can break, and say what `dctv report` says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dctv.cli import main
from dctv.cli.flame.picture import INNER, MARGIN
from tests.command_line import ROOT, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
SAMPLES = ROOT / "tests/data/perf/cpuclock.data"
EVENTS = ROOT / "tests/data/stdlib/two_events.perf.txt"
COLLAPSED = ROOT / "tests/data/perf/cpuclock.collapsed.txt"
SVG = "{http://www.w3.org/2000/svg}"
SLACK = 0.0021
"""Ends of frames are rounded to 0.001."""


class Picture:
    """What a picture shows."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.parse(path).getroot()
        self.texts = [str(text.text) for text in self.root.findall(f"{SVG}text") if text.text]
        self.frames: list[tuple[str, str, float, float, int]] = []
        self.colours: dict[str, str] = {}
        for node in self.root.findall(f".//{SVG}g[@class='frame']"):
            title, box = node.find(f"{SVG}title"), node.find(f"{SVG}rect")
            assert title is not None
            assert title.text is not None
            assert box is not None
            name, details = title.text.rsplit(" (", 1)
            self.colours[name] = box.attrib["fill"]
            place = float(box.attrib["x"]), float(box.attrib["width"]), int(box.attrib["y"])
            self.frames.append((name, details.removesuffix(")"), *place))

    def told(self, name: str) -> list[str]:
        return [tooltip for found, tooltip, *_ in self.frames if found == name]

    def by_row(self) -> dict[int, list[tuple[float, float]]]:
        rows: dict[int, list[tuple[float, float]]] = {}
        for _, _, x, width, y in self.frames:
            rows.setdefault(y, []).append((x, x + width))
        return rows


def drawn(tmp_path: Path, *words: str | Path) -> Picture:
    path = tmp_path / "x.svg"
    assert main(["flame", *map(str, words), "-o", str(path), "--no-index"]) == 0
    return Picture(path)


def trace(path: Path, calls: Sequence[tuple[str, float, float]]) -> Path:
    """Write a trace of slices (name, begin, length in µs) of one thread."""
    path.write_text(
        json.dumps([{"ph": "X", "name": n, "ts": ts, "dur": dur, "pid": 1, "tid": 1} for n, ts, dur in calls])
    )
    return path


def test_totals_match_the_report(tmp_path: Path) -> None:
    picture = drawn(tmp_path, CALLS, "-F", "train")
    lines = run("report", CALLS, "-F", "train", "-f", "total,call").out.splitlines()[2:]
    rows = [line.split() for line in lines]
    assert len(rows) == 4
    for time, unit, calls, name in rows:
        [tooltip] = picture.told(name)
        assert tooltip.split(", ")[0] == f"{time} {unit}"
        assert tooltip.endswith(f", {calls} call{'' if calls == '1' else 's'}")
    assert picture.texts[1] == "100.000 us in all, 4 frames of calls, filtered"


@pytest.mark.parametrize("options", [[], ["--inverted"], ["--reverse"], ["--from", "samples", "--weight", "period"]])
def test_frames_lie_within_those_that_they_are_in(tmp_path: Path, options: list[str]) -> None:
    picture = drawn(tmp_path, SAMPLES, "--min-width", "0", *options)
    rows = picture.by_row()
    order = sorted(rows, reverse="--inverted" not in options)
    assert rows[order[0]] == [(MARGIN, MARGIN + INNER)]
    assert len(order) > 5
    for above, below in pairwise(order):
        assert abs(above - below) == 16
        for x, end in rows[below]:
            assert any(x >= a - SLACK and end <= b + SLACK for a, b in rows[above])
        row = sorted(rows[below])
        assert all(a[1] <= b[0] + SLACK for a, b in pairwise(row))


def test_samples_are_counted_or_weighed(tmp_path: Path) -> None:
    assert drawn(tmp_path, SAMPLES).texts[1] == "1411 samples in all, 1313 frames of samples"
    assert drawn(tmp_path, COLLAPSED).texts[1] == "352750000 of period in all, 500 frames of samples"
    assert drawn(tmp_path, COLLAPSED, "--weight", "count").texts[1] == "287 samples in all, 500 frames of samples"


def test_samples_of_one_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cycles = drawn(tmp_path, EVENTS, "--event", "cycles:u", "--weight", "period")
    assert cycles.texts[1] == "3000 of period in all, 3 frames of samples of cycles:u"
    assert cycles.told("cycles:u") == ["1000 of period, 33.33 %"]
    assert capsys.readouterr().err == ""
    assert drawn(tmp_path, EVENTS).texts[1] == "5 samples in all, 4 frames of samples"
    assert capsys.readouterr().err == (
        "warning: samples of several events are added up: cycles:u (3), instructions:u (2); `--event` takes one\n"
    )


def test_filters_see_stacks_of_samples(tmp_path: Path) -> None:
    whole = drawn(tmp_path, COLLAPSED, "--min-width", "0")
    picture = drawn(tmp_path, COLLAPSED, "-F", "worker", "-D", "2", "--min-width", "0")
    rows = picture.by_row()
    assert len(rows) == 3
    [worker] = whole.told("worker")
    assert [tooltip.split(",")[0] for tooltip in picture.told("worker")] == [worker.split(",")[0]]
    assert "worker" not in {name for name, *_ in drawn(tmp_path, COLLAPSED, "-N", "worker").frames}


def test_frames_that_are_too_narrow_are_counted(tmp_path: Path) -> None:
    slices = [("long", 0, 1000), *((f"short{n}", n, 0.001) for n in range(1, 8)), ("end", 1000, 1000)]
    path = trace(tmp_path / "x.json", slices)
    picture = drawn(tmp_path, path)
    assert {name for name, *_ in picture.frames} == {"all", "long", "end"}
    assert picture.texts[-1] == "7 frames narrower than 0.1 of 1180 are left out, 0.007 us in all"
    assert drawn(tmp_path, path, "--min-width", "0").texts[-1] == "all frames are shown"


HOSTILE = (
    "</title><script>alert(1)</script>",
    "]]><script>alert(2)</script>",
    "<![CDATA[",
    '"\' onload="alert(3)',
    "&lt;&#60;&amp;",
    "nul\x00bel\x07 line\nbreak\u2028 \u202eturned",
    "a (b) c",
    "a;b",
    "=1+2",
    "",
)


@pytest.mark.parametrize("options", [[], ["--reverse"]])
def test_hostile_names_are_escaped(tmp_path: Path, options: list[str]) -> None:
    path = trace(tmp_path / "x.json", [(name, n, 1) for n, name in enumerate(HOSTILE)])
    picture = drawn(tmp_path, path, "--title", HOSTILE[0], *options)
    shown = re.sub("[\n\u2028\u202e]", " ", HOSTILE[5]).replace("\x00", "\ufffd").replace("\x07", "\ufffd")
    names = {name for name, *_ in picture.frames}
    assert {*HOSTILE[:5], shown, *HOSTILE[6:]} - names == set()
    assert picture.texts[0] == HOSTILE[0]
    assert len(picture.root.findall(f".//{SVG}script")) == 1
    attributes = {name for node in picture.root.iter() for name in node.attrib}
    assert not any(name.startswith("on") or name in ("href", "src", "style") for name in attributes)


def test_the_picture_is_self_contained(tmp_path: Path) -> None:
    drawn(tmp_path, CALLS)
    text = (tmp_path / "x.svg").read_text()
    assert set(re.findall(r"https?://[^\"']*", text)) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
    assert not re.search(r"\b(eval|innerHTML|outerHTML|insertAdjacentHTML|fetch|import)\b|url\(", text)


def test_pictures_of_one_trace_are_the_same(tmp_path: Path) -> None:
    drawn(tmp_path, SAMPLES)
    first = (tmp_path / "x.svg").read_bytes()
    drawn(tmp_path, SAMPLES)
    assert (tmp_path / "x.svg").read_bytes() == first


def test_two_traces_are_compared(tmp_path: Path) -> None:
    first = trace(tmp_path / "a.json", [("main", 0, 100), ("more", 0, 60), ("less", 60, 10), ("new", 70, 20)])
    other = trace(
        tmp_path / "b.json", [("main", 0, 50), ("more", 0, 20), ("less", 20, 20), ("old", 40, 8), ("in", 41, 3)]
    )
    picture = drawn(tmp_path, first, "--diff", other)
    assert picture.texts[0] == f"{first}: 100.000 us; {other}: 50.000 us"
    assert picture.told("main") == ["100.000 us, 100.00 %, 1 call, in the other 50.000 us, +100.00 %"]
    assert picture.told("less") == ["10.000 us, 10.00 %, 1 call, in the other 20.000 us, -50.00 %"]
    assert picture.told("new") == ["20.000 us, 20.00 %, 1 call, not in the other"]
    assert "2 frames are only in the other, 8.000 us in all" in picture.texts
    colours = picture.colours
    assert colours["less"].endswith("f5")
    assert colours["new"] == "#f54646"
    same = drawn(tmp_path, first, "--diff", first)
    assert {tooltip.split(", ")[-1] for _, tooltip, *_ in same.frames[1:]} == {"+0.00 %"}


def test_calls_that_do_not_end_are_as_long_as_what_they_call(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    begin = {"ph": "B", "name": "main", "ts": 0, "pid": 1, "tid": 1}
    path.write_text(json.dumps([begin, {"ph": "X", "name": "f", "ts": 1, "dur": 5, "pid": 1, "tid": 1}]))
    assert drawn(tmp_path, path).told("main") == ["at least 5.000 us, 100.00 %, 1 call"]


def test_an_empty_flame_graph(tmp_path: Path) -> None:
    picture = drawn(tmp_path, CALLS, "-F", "nosuch")
    assert picture.frames == []
    assert "there is nothing to show" in picture.texts


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([SAMPLES, "-t", "1ms"], "`-t` applies to calls, not to samples"),
        ([SAMPLES, "-F", "a@sample=2"], "`sample` and `time` apply to calls, not to samples"),
        ([SAMPLES, "--trace", "off"], "`--trace off` applies to calls, not to samples"),
        (
            [SAMPLES, "--event", "cycles"],
            "no sample is of the event `cycles`\nhint: samples are of cpu-clock:u (1,411)",
        ),
        ([CALLS, "--event", "cycles"], "`--event` applies to samples, not to calls"),
        ([CALLS, "--min-width", "x"], "found `--min-width x`, expected a number from 0 to 100"),
        ([CALLS, "-F", "a@sample=x"], "<filter>:1:10: expected a number from 1, found `x`"),
    ],
)
def test_errors_state_what_was_expected(
    words: list[str | Path], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        code: object = main(["flame", *map(str, words), "-o", str(tmp_path / "x.svg")])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()
