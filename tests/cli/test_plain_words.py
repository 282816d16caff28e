"""A plain command line means the same with and without argparse, and any other is left to it."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser

import pytest

from dctv.cli.command import Command
from dctv.cli.commands.index import INDEX
from dctv.cli.commands.info import INFO
from dctv.cli.commands.query import QUERY
from dctv.cli.commands.tables import TABLES
from dctv.cli.plain_words import plain_arguments

PLAIN: list[tuple[Command, list[str]]] = [
    (INDEX, ["a"]),
    (INDEX, ["a", "--force", "b", "--threads", "2", "c d"]),
    (INDEX, ["--dimensions", "args.size,tid", "--no-store", "--false-positive-rate", "0.5", "", "--force", "--force"]),
    (INDEX, ["--threads", "2", "--threads", "3", "a", "--index-dir", "x y"]),
    (QUERY, ["SELECT 1"]),
    (QUERY, ["t=a", "-f", "x", "--file", "y", "SELECT 1", "--param", "a=1", "-o", "z.csv", "--format", "csv"]),
    (QUERY, ["SELECT 1", "--no-index", "--no-index"]),
    (INFO, ["a", "b", "--task", "--index"]),
    (TABLES, ["t=a", "--allow-partial", "--memory-limit", "2GB"]),
]
SPECIAL: list[tuple[Command, list[str]]] = [
    *((INDEX, words) for words in ([], ["--force"], ["-h"], ["a", "--help"], ["a", "--forc"], ["a", "--threads=2"])),
    *((INDEX, words) for words in (["a", "--threads"], ["a", "--threads", "-2"], ["a", "--threads", "x"], ["--", "a"])),
    *((INDEX, words) for words in (["-"], ["a", "--dimensions", ","], ["a", "--expected-entries", "0"])),
    *((QUERY, words) for words in ([], ["a", "--index", "--no-index"], ["a", "--format", "x"], ["-ox", "a"])),
]


@pytest.mark.parametrize(("command", "words"), PLAIN)
def test_plain_words_mean_what_they_mean_to_argparse(command: Command, words: list[str]) -> None:
    parser = ArgumentParser(allow_abbrev=False)
    command.configure(parser)
    found = plain_arguments(command.configure, words)
    assert found is not None
    assert vars(found) == vars(parser.parse_intermixed_args(words))


@pytest.mark.parametrize(("command", "words"), SPECIAL)
def test_what_is_not_plain_is_left_to_argparse(command: Command, words: list[str]) -> None:
    assert plain_arguments(command.configure, words) is None


def test_declarations_that_are_not_known_are_left_to_argparse() -> None:
    def counted(parser: ArgumentParser) -> None:
        parser.add_argument("word")
        parser.add_argument("-v", action="count")

    def two(parser: ArgumentParser) -> None:
        parser.add_argument("one")
        parser.add_argument("other", nargs="?")

    def grouped(parser: ArgumentParser) -> None:
        parser.add_argument_group("more").add_argument("word")

    for configure in (counted, two, grouped):
        assert plain_arguments(configure, ["a"]) is None


def test_a_plain_command_loads_nothing_that_only_mistakes_need() -> None:
    program = "import sys; from dctv.cli import main; main(['index', 'no such trace']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "no such file" in done.stderr
    loaded = set(done.stdout.split())
    unwanted = {"argparse", "dataclasses", "fractions", "gettext", "inspect", "pkgutil", "shutil", "tempfile"}
    assert "dctv.readers.uftrace" in loaded
    assert unwanted & loaded == set()
