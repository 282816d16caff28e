"""Arguments that do not fit are answered like other errors: what was found and expected, and the nearest that fits."""

from __future__ import annotations

import pytest

from tests.command_line import run

CALLS = "tests/data/stdlib/calls.pfw"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("qurey", "SELECT 1"), "error: unknown command `qurey`\nhint: did you mean `query`?\n"),
        (("frobnicate",), "error: unknown command `frobnicate`\nhint: see `dctv --help`\n"),
        (("session", "foo"), "error: found `foo`, expected one of start, stop, list\n"),
        (("query", "--formt", "csv", "SELECT 1"), "error: unknown option `--formt`\nhint: did you mean `--format`?\n"),
        (
            ("stats", CALLS, "--section", "name"),
            "error: found `--section name`, expected one of times, durations, histogram, categories, names, processes\n"
            "hint: did you mean `names`?\n",
        ),
        (("query", "--stats", "xml", "SELECT 1"), "error: found `--stats xml`, expected json\n"),
        (
            ("query", "--timeout", "5x", "SELECT 1"),
            "error: found `--timeout 5x`, expected a time such as 90s, 12h or 30d\n",
        ),
        (("view", CALLS, "--limit", "-1"), "error: found `--limit -1`, expected a number from 1\n"),
        (
            ("replay", CALLS, "-F"),
            "error: found `-F` without a value\nhint: see `dctv replay --help`\n",
        ),
        (("flame",), "error: found no TRACE\nhint: see `dctv flame --help`\n"),
        (
            ("formats", "x", "y"),
            "error: found `y`, expected no further argument\nhint: see `dctv formats --help`\n",
        ),
        (
            ("query", "--index", "--no-index", "SELECT 1"),
            "error: `--no-index`: not allowed with argument --index\nhint: see `dctv query --help`\n",
        ),
        (("report", CALLS, "-s", "sefl"), "error: `-s`: unknown key `sefl`, did you mean `self`?\n"),
        (
            ("query", "--memory-limit", "2", "SELECT 1"),
            "error: the limit of memory is a size such as 4GB, found `2`\n",
        ),
    ],
)
def test_messages_for_wrong_arguments(words: tuple[str, ...], told: str) -> None:
    ran = run(*words)
    assert (ran.code, ran.out, ran.err) == (2, "", told)
