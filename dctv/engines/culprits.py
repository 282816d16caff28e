"""Find the expression that an engine's error is about, where the error names an operation but no place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dctv.errors import Place
from dctv.patterns import pattern
from dctv.plan.expressions import Binary, Call, Subquery, Text
from dctv.plan.node import Query
from dctv.plan.walk import walk

Operation = Binary | Call | Subquery
Test = Callable[[Operation], bool]


_WIDE = ("bit_", "binom", "factorial", "md5_number", "product", "sum")
"""The beginnings of names of functions that return integers of 128 bits."""
_CALCULATING = ("age", "date", "epoch", "generate_series", "last_day", "make_", "range", "time_bucket", "to_")
"""The beginnings of names of functions that add and multiply times and numbers, too."""


def _calls(*names: str) -> Test:
    """Test for calls of functions, by the beginnings of their names."""
    return lambda node: isinstance(node, Call) and node.function.startswith(names)


def _operators(*operators: str, calls: tuple[str, ...]) -> Test:
    """Test for operators, and for calls that compute the same."""
    own = _calls(*calls)
    return lambda node: own(node) or (isinstance(node, Binary) and node.operator in operators)


def _arithmetic(*operators: str) -> Test:
    return _operators(*operators, calls=_CALCULATING)


_OPERATIONS = tuple(
    (pattern(text, re.IGNORECASE), test)
    for text, test in (
        (r"^overflow in addition of ", _arithmetic("+")),
        (r"^overflow in subtraction of ", _arithmetic("-")),
        (r"^overflow in multiplication of ", _arithmetic("*")),
        (r"^overflow in division of ", _arithmetic("/", "//", "%")),
        (r"^integer overflow: .* does not fit into 64 bits$", _operators(*"+-*", "//", "%", calls=_WIDE)),
        (r"^date and time not in timestamp range", _arithmetic("+", "-")),
        (r"^(?:overflow in left shift|left-shift value)", _arithmetic("<<")),
        (r"^overflow on abs\(", _calls("abs")),
        (r"^cannot take square root of ", _calls("sqrt")),
        (r"^cannot take logarithm of ", _calls("ln", "log")),
        (r"^invalid UTF8 codepoint ", _calls("chr")),
        (r"^lcm value is out of range", _calls("lcm", "least_common_multiple")),
        (r"^could not parse string .* according to format specifier ", _calls("strptime")),
        (r"^epoch seconds out of range ", _calls("to_timestamp")),
        (r"^date out of range: ", _calls("make_date")),
        (r"^malformed JSON ", _operators("->", "->>", calls=("json", "from_json"))),
        (r"^invalid input for hex digit", _calls("from_hex", "unhex")),
        (r"^could not decode string .* as base64", _calls("from_base64")),
        (r"^lists larger than ", _calls("range", "generate_series")),
        (r"^interval cannot be 0", _calls("range", "generate_series")),
        (r"^slice step cannot be zero", _calls("list_slice", "array_slice")),
        (r"^map keys ", _calls("map")),
        (r"^substring length ", _calls("substr")),
        (r"^invalid type specifier |^invalid format string|^argument not found", _calls("format", "printf")),
        (r"^failed to parse format specifier ", _calls("strftime", "strptime")),
        (r"^more than one row returned by a subquery ", lambda node: isinstance(node, Subquery)),
        (r"^cannot create a string of size", _calls("repeat")),
        (r"^missing [\])]|^unexpected \)|^no argument for repetition|^bad repetition", _calls("regexp")),
        (r"^invalid (?:escape sequence|character class|perl operator)", _calls("regexp")),
    )
)
"""Operations, by the messages of their errors."""


def culprit(message: str, queries: Iterable[Query]) -> Place | None:
    """Return where the only operation is written that an error can be about; None if there are several."""
    test = next((test for text, test in _OPERATIONS if text.search(message)), None) or _raising(message)
    nodes = (node for query in queries for node in walk(query) if isinstance(node, Operation))
    places = {node.place for node in nodes if test(node)}
    return places.pop() if len(places) == 1 else None


def _raising(message: str) -> Test:
    """Test for calls of `error` with the message as it is written."""
    return lambda node: isinstance(node, Call) and node.function == "error" and Text(message) in node.arguments
