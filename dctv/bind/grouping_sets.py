"""Write GROUPING SETS, ROLLUP and CUBE; what has others among its sets is written as the list of all that it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, combinations

from dctv.bind.bound import Bound
from dctv.errors import BindError
from dctv.plan.queries import GroupingSets
from dctv.syntax import ast

Keys = tuple[Bound, ...]
_MOST = 65535
"""The engine groups in no more ways at once."""


def grouping_sets(node: ast.GroupingSets, bind: Callable[[ast.Expr], Bound]) -> tuple[GroupingSets, list[Bound]]:
    """Write several groupings at once, and return their keys.

    Raises:
        BindError: there are too many of them.
    """
    nested = any(isinstance(one, ast.GroupingSets) for one in node.sets)
    sets = _expanded(node, bind) if nested else _listed(node, bind)
    written = GroupingSets(node.kind, tuple(tuple(key.value for key in one) for one in sets))
    return written, list(chain.from_iterable(sets))


def _listed(node: ast.GroupingSets, bind: Callable[[ast.Expr], Bound]) -> list[Keys]:
    """Return the sets that a text lists, in place of those within all that they mean."""
    found: list[Keys] = []
    for one in node.sets:
        found += _expanded(one, bind) if isinstance(one, ast.GroupingSets) else [tuple(map(bind, one))]
        _check(len(found), node)
    return found


def _expanded(node: ast.GroupingSets, bind: Callable[[ast.Expr], Bound]) -> list[Keys]:
    listed = _listed(node, bind)
    if node.kind == "GROUPING SETS":
        return listed
    counts = range(len(listed), -1, -1)
    if node.kind == "ROLLUP":
        return [_joined(listed[:count]) for count in counts]
    _check(2 ** len(listed), node)
    return [_joined(some) for count in counts for some in combinations(listed, count)]


def _joined(sets: Sequence[Keys]) -> Keys:
    return tuple(chain.from_iterable(sets))


def _check(count: int, node: ast.GroupingSets) -> None:
    if count > _MOST:
        raise BindError(f"{node.kind} means too many groupings: {count}, at most {_MOST} are possible", node.place)
