"""Colours and the pager: on a terminal only, and never in the way."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest

from dctv.cli import main
from dctv.cli.call_trees.legible import legible
from tests.command_line import COMMAND, ROOT, Ran, environment, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
COLOUR = re.compile("\033\\[[0-9;]*m")


def on_terminal(*words: str | Path, lines: int = 50, changes: Mapping[str, str] | None = None) -> Ran:
    """Run a process whose stdout is a terminal with this number of lines."""
    master, slave, variables = _terminal(lines, changes or {})
    with subprocess.Popen(
        [*COMMAND, *map(str, words)], stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=environment(**variables)
    ) as process:
        os.close(slave)
        out = _whole(master)
        assert process.stderr is not None
        err = process.stderr.read().decode()
        code = process.wait(timeout=120)
    return Ran(code, out, err)


def here_on_terminal(*words: str | Path, changes: Mapping[str, str]) -> Ran:
    """Run in this process, with a terminal that has room for everything."""
    master, slave, variables = _terminal(50, changes)
    with ThreadPoolExecutor(1) as reader:
        out = reader.submit(_whole, master)
        with (
            os.fdopen(slave, "w", encoding="utf-8") as stdout,
            patch.object(sys, "stdout", stdout),
            patch.object(sys, "stderr", io.StringIO()) as stderr,
            patch.dict(os.environ, variables),
        ):
            code = main([str(word) for word in words])
        return Ran(code, out.result(), stderr.getvalue())


def _terminal(lines: int, changes: Mapping[str, str]) -> tuple[int, int, dict[str, str]]:
    """Return both ends of a new terminal, and what the environment says of it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 200, 0, 0))
    variables = {"TERM": "xterm", "PAGER": "cat", "LINES": str(lines), "COLUMNS": "200", "NO_COLOR": "", **changes}
    return master, slave, variables


def _whole(master: int) -> str:
    out = b""
    while data := _read(master):
        out += data
    os.close(master)
    return out.decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 1 << 16)
    except OSError as error:
        # What Linux says when nobody has the other end any more.
        if error.errno != errno.EIO:
            raise
        return b""


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "long.json"
    slices = [{"ph": "X", "name": f"f{n}", "ts": 2 * n, "dur": 1, "pid": 1, "tid": 1} for n in range(20000)]
    path.write_text(json.dumps(slices))
    return path


def test_colours_are_for_terminals() -> None:
    plain = run("replay", CALLS, "-F", "train")
    assert not COLOUR.search(plain.out)
    shown = on_terminal("replay", CALLS, "-F", "train")
    assert (shown.code, shown.err) == (0, "")
    assert "} \033[90m/* train */\033[0m".replace(" \033[90m", "\033[90m ") in shown.out
    assert COLOUR.sub("", shown.out) == plain.out


@pytest.mark.parametrize(
    ("words", "changes", "expected"),
    [
        ([], {}, "colours"),
        ([], {"NO_COLOR": "1"}, "none"),
        ([], {"TERM": "dumb"}, "none"),
        (["--color", "never"], {}, "none"),
        (["--color", "always"], {"NO_COLOR": "1"}, "colours"),
    ],
)
def test_precedence_of_colour_settings(words: list[str], changes: dict[str, str], expected: str) -> None:
    ran = here_on_terminal("replay", CALLS, "-F", "train", *words, changes=changes)
    assert (ran.code, "colours" if COLOUR.search(ran.out) else "none") == (0, expected)


def test_a_file_has_colours_only_on_request(tmp_path: Path) -> None:
    for words, expected in (([], False), (["--color", "always"], True)):
        ran = here_on_terminal("replay", CALLS, "-o", tmp_path / "x", *words, changes={})
        assert (ran.code, ran.out) == (0, "")
        assert bool(COLOUR.search((tmp_path / "x").read_text())) == expected


def test_a_pager_shows_long_output(long: Path) -> None:
    ran = on_terminal("replay", long, "-F", "f7", lines=4, changes={"PAGER": "sed s/^/paged:/"})
    assert "paged:" not in ran.out
    ran = on_terminal("replay", long, lines=4, changes={"PAGER": "sed s/^/paged:/", "NO_COLOR": "1"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == ran.out.count("paged:") == 20001


def test_to_leave_the_pager_early_is_no_failure(long: Path) -> None:
    ran = on_terminal("replay", long, lines=4, changes={"PAGER": "head -n 3"})
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("\n") == 3


def test_no_pager(long: Path) -> None:
    ran = on_terminal("report", long, "--no-pager", lines=4, changes={"PAGER": "sed s/^/paged:/"})
    assert (ran.code, ran.out.count("\n"), "paged:" in ran.out) == (0, 20002, False)
    assert "paged:" not in run("report", long, PAGER="sed s/^/paged:/").out


def test_a_pager_that_is_missing_is_done_without(long: Path) -> None:
    ran = on_terminal("report", long, lines=4, changes={"PAGER": "no-such-pager"})
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 20002)


NAME = "a\033[31m\033[2Jb\a\x9b\u202e\u00e9"
ESCAPED = r"a\x1b[31m\x1b[2Jb\x07\x9b\u202e" + "\u00e9"
THREAD = "t\033]0;x\a"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "hostile.json"
    outer = {"ph": "X", "name": NAME, "ts": 0, "dur": 2500, "pid": 1, "tid": 1}
    inner = {**outer, "name": "inner", "ts": 1, "dur": 1, "args": {"x": "\033[5m"}}
    thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": THREAD}}
    path.write_text(json.dumps([outer, inner, thread]))
    return path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["replay"], ESCAPED),
        (["replay", "-f", "task"], r"t\x1b]0;x\x07"),
        (["replay", "--color", "never"], ESCAPED),
        (["report", "--no-pager"], ESCAPED),
        (["report"], ESCAPED),
        (["report", "--task"], r"t\x1b]0;x\x07"),
        (["graph"], ESCAPED),
        (["graph", "--task"], r"t\x1b]0;x\x07"),
        (["dump"], ESCAPED),
        (["dump", "--chrome"], r"t\u001b]0;x\u0007"),
        (["dump", "--flame-graph"], "b"),
        (["dump", "--graphviz"], "b"),
        (["dump", "--mermaid"], "b"),
        (["info"], r"t\x1b]0;x\x07"),
        (["info", "--task"], r"t\x1b]0;x\x07"),
    ],
)
def test_names_are_text_on_a_terminal(hostile: Path, words: list[str], expected: str) -> None:
    ran = here_on_terminal(*words, hostile, changes={})
    assert (ran.code, expected in ran.out) == (0, True)
    assert_harmless(ran.out)


def assert_harmless(text: str) -> None:
    """Check that there are no control characters but those of the colours of units and comments."""
    assert re.sub("\033\\[(?:32|90|35|0)m|[\n\t]", "", text).isprintable()


@pytest.mark.parametrize("words", [["replay", "-f", "task"], ["report", "--task"], ["replay", "--color", "never"]])
def test_names_are_text_in_the_pager(hostile: Path, words: list[str]) -> None:
    ran = on_terminal(*words, hostile, lines=3, changes={"PAGER": "sed s/^/paged:/"})
    assert (ran.code, ran.err, "paged:" in ran.out) == (0, "", True)
    assert "\\x07" in ran.out
    assert_harmless(ran.out)


def test_files_and_pipes_get_names_as_they_are(hostile: Path, tmp_path: Path) -> None:
    for command in ("replay", "report", "graph", "dump"):
        assert NAME in run(command, hostile).out
        assert here_on_terminal(command, hostile, "-o", tmp_path / command, changes={}).out == ""
        assert NAME in (tmp_path / command).read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\033[90mx\n\033[0m\ty\n", "\033[90mx\n\033[0m\ty\n"),
        ("\033[90mx\r\033[0m y\b", "\033[90mx\\r\033[0m y\\x08"),
        ("\033[90mx\033[91my\033[0m\033[0m", r"\x1b[90mx" + "\033[91my\033[0m" + r"\x1b[0m"),
        ("\033[91mx\n\033[2Jy", "\\x1b[91mx\n\\x1b[2Jy"),
        ("\u200e\033[32mms\033[0m \u00e9\u00a0", "\\u200e\033[32mms\033[0m \u00e9\u00a0"),
    ],
)
def test_our_own_colours_remain_if_they_end(text: str, expected: str) -> None:
    assert legible(text, coloured=True) == expected
    assert "\033" not in legible(text, coloured=False)
