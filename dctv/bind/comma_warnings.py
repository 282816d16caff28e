"""Warn of joins after a comma that mean something else where commas bind less tightly, as in standard SQL."""

from __future__ import annotations

from collections.abc import Iterator

from dctv.errors import WarningLog
from dctv.syntax import ast


def warn_of_comma(node: ast.Join, warnings: WarningLog) -> None:
    """Warn of `a, b RIGHT JOIN c`, and others whose rows depend on `a` being one of the joined tables.

    A comma is an INNER JOIN, and joins apply from left to right.
    """
    joins = [] if node.comma else list(_before(node))
    place = next((index for index, one in enumerate(joins) if one.comma), None)
    if place is None:
        return
    names = {name.text.lower() for name in node.using}
    merged = {name.text.lower() for one in joins[place:] for name in one.using}
    across = any(one.natural for one in joins[place:])
    if node.kind in ("RIGHT", "FULL") or node.natural or names & merged or (names and across):
        word = "NATURAL JOIN" if node.natural else "JOIN ... USING" if node.using else f"{node.kind} JOIN"
        message = f"{word} applies to all tables before it, also to those before the comma; a subquery joins two alone"
        warnings.entries[message] = 1


def _before(node: ast.Join) -> Iterator[ast.Join]:
    """Yield the joins that a join's left side consists of, from right to left."""
    left = node.left
    while isinstance(left, ast.Join):
        yield left
        left = left.left
