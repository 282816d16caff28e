"""Parse the arguments of `dctv compare` into two sides of traces, and the rest into a query."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.cli.arguments import MOUNT
from dctv.cli.mounts import is_path
from dctv.comparison.judging import Direction, Directions
from dctv.comparison.of_traces import traces_of
from dctv.console.files import exists
from dctv.errors import UsageError
from dctv.record import record

_LABELS = ("A", "B")
_HINT = "dctv compare A=old.trace B=new.trace; a pattern in quotes, or A= again, gives a side several runs"


@record
class Compared:
    """Two sides by name, and the other words."""

    sides: tuple[tuple[str, list[str]], tuple[str, list[str]]]
    """Names and traces."""
    others: list[str]
    """Words that are not traces."""


def parse_sides(words: Sequence[str]) -> Compared:
    """Parse `NAME=TRACE` words, or two traces; the first side is the base.

    Raises:
        UsageError: there are not two sides, or a pattern matches nothing.
    """
    named: dict[str, list[str]] = {}
    unnamed: list[str] = []
    others: list[str] = []
    for word in words:
        match = None if exists(word) else MOUNT.fullmatch(word)
        if match is not None:
            if not match[2]:
                raise UsageError(f"`{word}` gives no trace for the side `{match[1]}`", hint="write NAME=TRACE")
            named.setdefault(match[1], []).append(match[2])
        elif is_path(word):
            unnamed.append(word)
        else:
            others.append(word)
    if unnamed and (named or len(unnamed) != len(_LABELS)):
        raise UsageError(f"found `{unnamed[0]}` without a side, expected two traces, or NAME=TRACE", hint=_HINT)
    named |= {label: [trace] for label, trace in zip(_LABELS, unnamed, strict=False)}
    if len(named) != len(_LABELS):
        found = ", ".join(f"`{label}`" for label in named)
        count = "no side" if not named else "one side, " if len(named) == 1 else f"{len(named)} sides, "
        raise UsageError(f"found {count}{found}, expected two", hint=_HINT)
    (a, first), (b, second) = named.items()
    return Compared(((a, traces_of(first)), (b, traces_of(second))), others)


def better_of(directions: Sequence[tuple[str | None, Direction]]) -> Directions:
    """Return the directions that were given on the command line."""
    usual: Direction = next((one for column, one in reversed(directions) if column is None), "lower")
    return Directions(usual, {column: one for column, one in directions if column is not None})


def names(words: Sequence[str]) -> list[str]:
    """Parse names that are given one by one or separated by commas."""
    return [name.strip() for word in words for name in word.split(",") if name.strip()]
