"""Known deviations of engines that speak Spark's SQL, by name; they are rewritten or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.engines.sql.vetted.functions import NAMES
from dctv.engines.sql.vetted.refusal import refused
from dctv.plan.expressions import Binary, Call, Window
from dctv.plan.node import Node, Query
from dctv.plan.queries import Compound, GroupingSets, Join, Select
from dctv.plan.walk import walk

OVERFLOW = "integers that overflow"
EXTREMES = "MIN and MAX of infinities and NaN"
LETTERS = "upper and lower of letters that become two"
OTHERWISE = frozenset((OVERFLOW, EXTREMES, LETTERS))
"""Those that are rewritten."""


def _calls(*names: str) -> Callable[[Node], bool]:
    return lambda node: isinstance(node, Call) and NAMES.get(node.function, node.function) in names


def _over(*names: str) -> Callable[[Node], bool]:
    def found(node: Node) -> bool:
        return isinstance(node, Window) and NAMES.get(node.call.function, node.call.function) in names

    return found


def _passing_over_nulls(node: Node) -> bool:
    return isinstance(node, Window) and node.call.nulls == "IGNORE"


def _distinct(node: Node) -> bool:
    return (isinstance(node, Select) and node.distinct) or (isinstance(node, Call) and node.distinct)


_KEEPING = ("LEFT", "RIGHT", "FULL")

REFUSED: Mapping[str, Callable[[Node], bool]] = {
    "GROUP BY CUBE and its like": lambda node: isinstance(node, GroupingSets),
    "IGNORE NULLS over a window": _passing_over_nulls,
    "DISTINCT": _distinct,
    "`lag` and `lead`": _over("lag", "lead"),
    "`row_number` and other ranks": _over("row_number", "rank", "dense_rank", "ntile"),
    "a sum over a window": _over("sum", "count", "avg"),
    "`first` and `last` with ORDER BY": _calls("first", "last"),
    "`arg_max` and `arg_min`": _calls("arg_max", "arg_min", "arg_max_null", "arg_min_null"),
    "`sum` of integers": _calls("sum"),
    "`quantile_cont`": _calls("quantile_cont", "median"),
    "`//` and `%`": lambda node: isinstance(node, Binary) and node.operator in ("//", "%"),
    "a join that keeps rows without a partner": lambda node: isinstance(node, Join) and node.kind in _KEEPING,
    "a SEMI or ANTI JOIN": lambda node: isinstance(node, Join) and node.kind in ("SEMI", "ANTI"),
    "INTERSECT and EXCEPT": lambda node: isinstance(node, Compound) and node.operator != "UNION",
    "UNION": lambda node: isinstance(node, Compound) and node.operator == "UNION",
    "`round` and its like": _calls("round", "floor", "ceil", "trunc"),
    "functions of parts of texts": _calls("substring", "instr", "length", "replace", "translate"),
    "regular expressions": _calls("regexp_matches", "regexp_extract", "regexp_replace", "regexp_full_match"),
}
"""Whether a part of a query depends on a deviation; a deviating engine has its name among its gaps."""


def check(query: Query, gaps: frozenset[str]) -> None:
    """Refuse parts that an engine is known to evaluate differently, and that are not rewritten.

    Raises:
        NotOnThisEngine: the query has such a part.
    """
    named = {name: REFUSED[name] for name in gaps if name in REFUSED}
    for node in walk(query) if named else ():
        for name, is_one in named.items():
            if is_one(node):
                raise refused(name, "this engine is known to answer differently")
