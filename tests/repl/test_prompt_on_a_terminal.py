"""`dctv repl` as a person has it: a process on a terminal, with an editor, a pager and a configuration file."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.command_line import COMMAND, environment

ESCAPES = re.compile("\033(?:\\[[0-9;?]*[A-Za-z]|[=>]|\\][^\007]*\007)")
WAIT = 60
REST = 0.5
"""Seconds without anything new after which nothing more is on its way."""
RIGHT, UP = "\033[C", "\033[A"
SLOW = "SELECT COUNT(*) AS n FROM range(100000000000) AS t(a) WHERE hash(a) % 7 = 3;"


class Terminal:
    """A prompt, and what a person sees of it."""

    def __init__(self, folder: Path, columns: int, words: Sequence[str] = (), **changes: str) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        variables = {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "40", "PAGER": "cat", "HOME": str(folder)}
        variables |= {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state"), **changes}
        self.process = subprocess.Popen(
            [*COMMAND, "repl", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment(**variables),
        )
        os.close(slave)
        self.master = master
        self.seen = self.raw = ""

    def until(self, text: str) -> str:
        """Read on until a text comes; return what came, it included."""
        deadline = time.monotonic() + WAIT
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{text!r} did not come, but {self.seen!r}"
            self._read()
        end = self.seen.index(text) + len(text)
        found, self.seen = self.seen[:end], self.seen[end:]
        return found

    def _read(self) -> None:
        raw = os.read(self.master, 1 << 16).decode(errors="replace")
        if "\033[6n" in raw:  # It asks where the cursor is.
            os.write(self.master, b"\033[1;1R")
        self.raw += raw
        self.seen += ESCAPES.sub("", raw).replace("\r\n", "\n").replace("\r", "")

    def say(self, line: str, until: str) -> str:
        """Type a line and read until a text comes."""
        return self.type(f"{line}\r", until)

    def type(self, keys: str, until: str) -> str:
        """Press keys and read until a text comes."""
        os.write(self.master, keys.encode())
        return self.until(until)

    def press(self, keys: str) -> None:
        """Press keys and wait until the screen has come to rest: completion draws, and draws again."""
        os.write(self.master, keys.encode())
        while select.select([self.master], [], [], REST)[0]:
            self._read()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, 60)
    made.until("Type .help for help.")
    made.until("Nothing is mounted: `.mount t=trace.json` mounts a trace as t.")
    yield made
    made.close()


def test_wide_results_are_cut_to_the_terminal(terminal: Terminal) -> None:
    query = "SELECT 1234567890123 AS a, repeat('long ', 50) AS b, repeat('é', 90) AS c, 5ms AS d;"
    shown = terminal.say(query, "      5\n")
    lines = shown.splitlines()[-3:]
    assert {len(line) for line in lines[1:]} == {59}  # Both texts have the same room, the last cell is nobody's.
    assert lines[2].count("…") == 2
    assert lines[2].startswith("1234567890123  long ")


def test_omitted_columns_are_reported(terminal: Terminal) -> None:
    columns = ", ".join(f"'value {n}' AS column{n}" for n in range(9))
    shown = terminal.say(f"SELECT {columns};", "shows all")
    assert shown.endswith(
        "3 columns have no room: column6, column7, column8; `.mode line` or `.set width full` shows all"
    )
    terminal.say(".mode line", "DCTV>")
    assert "column8 = value 8" in terminal.say(f"SELECT {columns};", "column8 = value 8")


def test_last_shows_the_rows_beyond_maxrows(terminal: Terminal) -> None:
    terminal.say(".mode csv", "DCTV>")
    terminal.say(".maxrows 2", "DCTV>")
    shown = terminal.say("SELECT a FROM range(7, 11) AS t(a);", "`.last` shows all")
    assert shown.endswith("a\n7\n8\nonly the first 2 rows, there are more; `.last` shows all")
    assert terminal.say(".last", "10\n").endswith("a\n7\n8\n9\n10\n")


def test_a_query_that_lasts_shows_how_long(terminal: Terminal) -> None:
    terminal.say(SLOW, "running")
    terminal.process.send_signal(signal.SIGINT)
    terminal.until("interrupted")
    terminal.say("SELECT 42 AS x;", "42")


def test_the_time_of_the_pager_is_not_counted(tmp_path: Path) -> None:
    slow_pager = tmp_path / "pager"
    slow_pager.write_text(f"#!{sys.executable}\nimport sys, time\nsys.stdin.read()\ntime.sleep(3)\n")
    slow_pager.chmod(0o755)
    made = Terminal(tmp_path, 60, PAGER=str(slow_pager))
    try:
        made.until("Type .help")
        made.say(".timing on", "timing is on")
        shown = made.say("SELECT a FROM range(100) AS t(a);", "read from files\n")
        seconds = re.search(r"100 rows in ([0-9.]+) s", shown)
        assert seconds is not None
        assert float(seconds[1]) < 2.5
        assert "1 row in " in made.say("SELECT 1 AS x;", "0 B read from files\n")
        assert "done in " in made.say("CREATE VIEW v AS SELECT 1 AS x;", " s CPU\n")
    finally:
        made.close()


def test_the_configuration_file_and_the_editor(tmp_path: Path) -> None:
    (tmp_path / "config" / "dctv").mkdir(parents=True)
    (tmp_path / "config" / "dctv" / "config.toml").write_text(
        '[prompt]\nmode = "tsv"\ntiming = true\nmaxrows = 5\nwodth = 3\nwidth = "narrow"\n[other]\n'
    )
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/41/42/ "$1"\n')
    editor.chmod(0o755)
    made = Terminal(tmp_path, 100, VISUAL=str(editor))
    try:
        shown = made.until("Type .help")
        assert "unknown setting `wodth`" in shown
        assert "found `narrow` for `width`" in shown.replace("\n", "")
        assert "found `other`" in shown.replace("\n", "")
        assert "mode is tsv" in made.say(".mode", "tsv\n")
        assert "41\t1\n1 row in" in made.say("SELECT 41 AS x, 1 AS y;", "1 row in")
        assert "42\t1\n1 row in" in made.say(".edit", "1 row in")
    finally:
        made.close()


def test_a_statement_takes_lines_until_it_ends(terminal: Terminal) -> None:
    terminal.say("SELECT 41 +", "->")
    terminal.say("  1 AS it", "->")
    assert "42" in terminal.say(";", "42\n")


def test_tab_completes_keywords_units_and_paths(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "requests.csv").write_text("a,b\n1,2\n")
    for keys in ("SELE", "\t", " 5000micros", "\t"):
        terminal.press(keys)
    assert "5" in terminal.say(" IN ms AS t;", "5\n")
    for keys in ("MOUNT TRACE 'requ", "\t"):
        terminal.press(keys)
    terminal.say("' AS r;", "mounted")
    for keys in ("SELECT b FROM r.requ", "\t"):
        terminal.press(keys)
    assert "2" in terminal.say(";", "2\n")
    for keys in ("MOUNT TRACES 'requ", "\t"):
        terminal.press(keys)
    terminal.say("' AS many;", "mounted 1 of 1 traces as many")


def test_tab_offers_tables_columns_and_arguments(terminal: Terminal) -> None:
    terminal.say("CREATE VIEW wakeups AS SELECT 1ns AS _ts, 5ms AS latency, 3 AS cpu;", "created view")
    for keys in ("SELECT lat FROM wake", "\t", "\x1b[1~" + RIGHT * 10, "\t"):
        terminal.press(keys)
    assert "latency [ms]" in terminal.say("\x1b[4~;", "5\n")
    for keys in ("SELECT * FROM dctv.as_spans(wakeups, dur", "\t"):
        terminal.press(keys)
    assert "1         5000000    3\n" in terminal.say("'latency');", "3\n")


def test_the_usage_of_a_typed_call_is_shown_below(terminal: Terminal) -> None:
    terminal.type("SELECT substr('abc', ", "substr(string, start[, length]) -> STRING")
    terminal.press("2)")
    assert "bc" in terminal.say(" AS x;", "bc\n")
    terminal.type("SELECT COUNT(*) AS n FROM dctv.clip(", "dctv.clip(table, start=>NULL, stop=>NULL)")
    terminal.press("\x03")


def test_history_is_suggested_and_searched(terminal: Terminal) -> None:
    terminal.say("SELECT 1234 AS first;", "1234\n")
    terminal.say("SELECT 5000 + 678 AS second;", "5678\n")
    terminal.type("SELECT 12", "34 AS first;")
    assert "1234" in terminal.say(RIGHT, "1234\n")
    terminal.until("DCTV>")
    terminal.type("\x12", "search")
    terminal.type("5000", "5000 + 678")
    assert terminal.type("\r\r", "5678\n")


def test_the_history_outlives_the_prompt(tmp_path: Path) -> None:
    for line in ("SELECT 98765 AS x;", UP + UP):
        made = Terminal(tmp_path, 60)
        try:
            made.until("Type .help")
            made.until("DCTV>")
            made.say(line, "98765\n")
            made.say(".exit", "")
            assert made.process.wait(WAIT) == 0
        finally:
            made.close()
    assert "SELECT 98765 AS x;" in (tmp_path / "state" / "dctv" / "history").read_text()


def test_keywords_have_the_colours_of_the_terminal(terminal: Terminal) -> None:
    terminal.say("SELECT 'x' AS y;", "x\n")
    colours = re.findall("\033\\[0;([0-9;]+)m", terminal.raw)
    # Blue and bold, green: the sixteen that a light and a dark theme make legible, no others.
    assert {"34;1", "32"} <= set(colours)
    assert not [colour for colour in colours if "38;" in colour]


def test_ctrl_c_leaves_a_line_and_keeps_the_session(terminal: Terminal) -> None:
    terminal.say("CREATE VIEW kept AS SELECT 7 AS n;", "created view")
    terminal.type("SELECT garbage", "garbage")
    terminal.type("\x03", "DCTV>")
    assert "7" in terminal.say("SELECT n FROM kept;", "7\n")


def test_the_welcome_says_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "requests.csv").write_text("a,b\n1,2\n")
    made = Terminal(tmp_path, 200, ["r=requests.csv", "many=@*.csv"])
    try:
        made.until("SQL ends with a semicolon")
        made.until("Mounted: r, many. `.tables` lists")
    finally:
        made.close()


def test_a_project_has_a_configuration_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "config" / "dctv").mkdir(parents=True)
    (tmp_path / "config" / "dctv" / "config.toml").write_text('[prompt]\nmode = "tsv"\nmaxrows = 5\n')
    (tmp_path / "dctv.toml").write_text('[prompt]\nmode = "line"\n')
    for words, mode, rows in (((), "line", "5"), (("--no-config",), "table", "all")):
        made = Terminal(tmp_path, 60, words)
        try:
            made.until("Type .help")
            made.say(".mode", f"mode is {mode}\n")
            made.say(".set", "config.toml and dctv.toml say\n")
            made.say(".maxrows", f"maxrows is {rows}\n")
        finally:
            made.close()
