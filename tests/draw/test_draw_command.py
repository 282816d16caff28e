"""`dctv draw`: its words and options, the files that it writes, and what it refuses."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dctv.cli.commands.draw import DRAW, _time
from tests.command_line import ROOT, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("0", 0),
        ("17", 17),
        ("1.5s", 1_500_000_000),
        ("9.000000000h", 9 * 3_600_000_000_000),
        ("200ms", 200_000_000),
        ("12us", 12_000),
        ("0.25us", 250),
        ("-3ms", -3_000_000),
        ("2m", 120_000_000_000),
        ("1.000000001s", 1_000_000_001),
    ],
)
def test_times_have_units(text: str, time: int) -> None:
    assert _time(text) == time


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "expected a time such as `1.5s` or `200us`, found `soon`"),
        ("", "expected a time such as `1.5s` or `200us`, found ``"),
        ("1e9", "expected a time such as `1.5s` or `200us`, found `1e9`"),
        ("5 s", "expected a time such as `1.5s` or `200us`, found `5 s`"),
        ("5years", "expected a time such as `1.5s` or `200us`, found `5years`"),
        ("1" * 30, f"expected a time such as `1.5s` or `200us`, found `{'1' * 30}`"),
    ],
)
def test_invalid_times_are_refused(text: str, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as raised:
        _time(text)
    assert str(raised.value) == message


def test_options_are_read() -> None:
    parser = ArgumentParser()
    DRAW.configure(parser)
    times, tracks = ["--from", "1us", "--to", "2us"], ["--tracks", "*/a", "--tracks", "b"]
    look = ["--width", "400", "--theme", "dark", "-o", "x.svg"]
    args = parser.parse_args(["a.json", "x=b.json", *times, *tracks, *look])
    assert (args.words, args.start, args.stop, args.tracks) == (["a.json", "x=b.json"], 1000, 2000, ["*/a", "b"])
    assert (args.width, args.height, args.theme, args.output) == (400, None, "dark", Path("x.svg"))


def test_a_trace_is_drawn_into_the_terminal() -> None:
    done = run("draw", CALLS, "--no-index", "--width", "100")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [str(CALLS)[:99] + "…" if len(str(CALLS)) > 100 else str(CALLS), "begins at 0 ns, lasts 110 us"]
    assert any("[train──" in line for line in lines)
    assert max(map(len, lines)) <= 100


def test_colours_can_be_forced() -> None:
    done = run("draw", CALLS, "--no-index", "--color", "always", TERM="xterm-256color", COLORTERM="truecolor")
    assert "\x1b[" in done.out
    assert "\x1b[" not in run("draw", CALLS, "--no-index", NO_COLOR="1").out


def test_a_trace_is_drawn_into_files(tmp_path: Path) -> None:
    for name in ("x.svg", "x.png", "x.html", "X.SVG"):
        done = run("draw", CALLS, "--no-index", "-o", tmp_path / name, "--title", "a <title>", "--width", "800")
        assert (done.code, done.out, done.err) == (0, "", "")
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a <title>", "train"} <= set(texts)
    assert root.get("width") == "800"
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "X.SVG").read_bytes() == (tmp_path / "x.svg").read_bytes()


def test_a_window_and_tracks_can_be_chosen() -> None:
    words = ("--from", "20us", "--to", "45us", "--tracks", "i/o", "--width", "100")
    done = run("draw", CALLS, "--no-index", *words)
    lines = done.out.splitlines()
    assert lines[1] == "begins at 20 us, lasts 25 us"
    assert "I/O" in lines
    assert "Processes" not in lines


def test_several_traces_are_below_each_other() -> None:
    done = run("draw", f"first={CALLS}", f"second={CALLS}", "--no-index", "--width", "100")
    lines = done.out.splitlines()
    assert [line for line in lines if line in ("first", "second", "trace")] == ["first", "second"]
    assert len([line for line in lines if "[train──" in line]) == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-o", "x.pdf"], 2, "error: `x.pdf` must end in .svg, .png or .html\n"),
        (["-o", "x"], 2, "error: `x` must end in .svg, .png or .html\n"),
        (["-o", "x.svg", "--width", "10"], 2, "error: the width of a picture is 320 to 20,000 pixels, found 10\n"),
        (["--width", "10"], 2, "error: a drawing in a terminal is 40 to 2,000 columns wide, found 10\n"),
        (
            ["--tracks", "Proceses"],
            2,
            "error: no track fits `Proceses`\nhint: did you mean `Processes`?\n",
        ),
        (
            ["--from", "2us", "--to", "1us"],
            2,
            "error: `--to` must be later than `--from`, found 2 us to 1 us\n",
        ),
        (["--from", "1s"], 2, "error: `--from` is 1 s, and what is drawn ends at 110 us\n"),
        (["--to=-1us"], 2, "error: `--to` must be later than `--from`, found 0 ns to -1 us\n"),
        (
            [f"trace={CALLS}"],
            2,
            "error: `trace` is reserved for traces without a name\nhint: name all traces\n",
        ),
    ],
)
def test_mistakes_are_reported(words: list[str], code: int, message: str, tmp_path: Path) -> None:
    done = run("draw", CALLS, "--no-index", *words, cwd=tmp_path)
    assert (done.code, done.err, done.out) == (code, message, "")
    assert list(tmp_path.iterdir()) == []


def test_states_are_drawn_instead() -> None:
    trace = ROOT / "tests/data/stdlib/waits.trace.txt"
    done = run("draw", trace, "--no-index", "--states", "--width", "60", "--tracks", "CPUs/0/*")
    assert (done.code, done.err) == (0, "")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert [name for name in names if name in ("CPUs", "0", "Current_thread")] == ["CPUs", "0", "Current_thread"]
