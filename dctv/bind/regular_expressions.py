"""Check literal regular expressions of calls, which the engine itself checks only when a query runs."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.contracts.engine import Engine
from dctv.errors import BindError, EngineError, Place
from dctv.plan.build import select
from dctv.plan.expressions import Call, List, Number, Text
from dctv.plan.walk import walk

_FUNCTIONS = frozenset((
    "regexp_extract", "regexp_extract_all", "regexp_full_match", "regexp_matches", "regexp_replace",
    "regexp_split_to_array", "str_split_regex", "string_split_regex",
))  # fmt: skip
"""Functions whose second argument is a regular expression."""
_MOST_KNOWN = 10_000
_readable: set[Call] = set()
"""Calls that an engine has computed, with a text that they are tried on."""


def are_read(name: str, arguments: Sequence[Bound], engine: Engine, place: Place | None) -> bool:
    """Return whether a call has a literal regular expression that the engine reads; False if it has none.

    Raises:
        BindError: it has one that the engine does not read.
    """
    if name not in _FUNCTIONS or len(arguments) < 2 or not isinstance(arguments[1].value, Text):
        return False
    given = [one.value for one in arguments[1:]]
    if not all(isinstance(node, Text | Number | List) for node in walk(*given)):
        return False
    trial = Call(name, (Text(""), *given))
    if trial not in _readable:
        try:
            engine.compute(select(trial))
        except EngineError as error:
            if not error.message.startswith("missing"):
                raise BindError(error.message, place, hint=error.hint) from None
            message = f"not a regular expression: {error.message}"
            raise BindError(message, place, hint=r"`\[` and `\(` are the characters themselves") from None
        if len(_readable) >= _MOST_KNOWN:
            _readable.clear()
        _readable.add(trial)
    return True
