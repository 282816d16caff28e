"""Find the bundled queries for comparing traces: SQL files with the query's name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from dctv import resources
from dctv.comparison.judging import DIRECTIONS, Direction
from dctv.errors import UsageError, nearest
from dctv.record import record

EVERY = "*"
"""Matches all formats."""
TRACE = "t"
"""The mount of each trace."""


@record
class Metric:
    """A bundled query."""

    name: str
    doc: str
    formats: tuple[str, ...]
    """Names of the readers with traces that it is for; `*` for all."""
    better: Mapping[str, Direction]
    """Columns in which more is better, or neither."""
    sql: str

    def covers(self, formats: Collection[str]) -> bool:
        """Whether it is for traces with these formats."""
        return EVERY in self.formats or all(name in self.formats for name in formats)


@cache
def metrics() -> Mapping[str, Metric]:
    """Read the bundled queries, by name."""
    found = sorted((resources.root() / "metrics").glob("*.sql"))
    return {path.stem: _read(path.stem, path.read_text(encoding="utf-8")) for path in found}


def metric_of(name: str) -> Metric:
    """Return a bundled query by name.

    Raises:
        UsageError: there is none.
    """
    found = metrics()
    if name not in found:
        near = nearest(name, list(found))
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(found)}"
        raise UsageError(f"found no metric `{name}`", hint=hint)
    return found[name]


def fitting(formats: Collection[str]) -> list[Metric]:
    """Return the bundled queries for traces with all these formats.

    Raises:
        UsageError: there are none.
    """
    found = [one for one in metrics().values() if one.covers(formats)]
    if not found:
        raise UsageError(f"found no metric for traces of {' and '.join(formats)}", hint="give a query of your own")
    return found


def _read(name: str, text: str) -> Metric:
    """Parse the description, formats and directions in comments, then the select."""
    doc: list[str] = []
    formats: tuple[str, ...] = ()
    better: dict[str, Direction] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        comment = line[2:].strip()
        what, _, rest = comment.partition(":")
        words = tuple(word.strip() for word in rest.split(","))
        direction = next((one for one in DIRECTIONS if what == f"better {one}"), None)
        if what == "formats":
            formats = words
        elif direction is not None:
            better |= dict.fromkeys(words, direction)
        else:
            doc.append(comment)
    return Metric(name, " ".join(doc), formats, better, text)
