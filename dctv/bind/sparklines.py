"""Bind calls of sparkline to expressions of the engine: a list of numbers to a text with a block for each."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.members import shown
from dctv.bind.types import VARCHAR, settled
from dctv.errors import BindError
from dctv.plan.build import call, case, equal, greater, minus, number, plus, times
from dctv.plan.expressions import Binary, Cast, Column, Expression, IsNull, Lambda, List, Number, Text
from dctv.signatures.types import Type
from dctv.syntax import ast
from dctv.types.values import is_numeric

FUNCTIONS = (NAME,) = ("sparkline",)
_BLOCKS = "▁▂▃▄▅▆▇█"
_LISTS = ("LIST", "ARRAY")
_NULL = '"NULL"'
_WHOLE = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"))
"""Types whose differences are exact in 128 bits; of others they are computed as doubles."""
_ALL, _ENDS, _ONE = map(Column, ("all", "ends", "one"))
_LOW, _HIGH = (call("list_extract", _ENDS, number(place)) for place in (1, 2))


def sparkline_call(name: str, arguments: Sequence[Bound], expr: ast.Call) -> Bound:
    """Write a call of the function.

    Raises:
        BindError: it has other arguments than a list of numbers, or is called as a window function or an aggregate.
    """
    hint = f"such as {name}(list(x ORDER BY _ts))"
    plain = not (expr.keywords or expr.distinct or expr.order_by or expr.nulls)
    if expr.over is not None or expr.filter is not None or not plain:
        raise BindError(f"`{name}` is neither a window function nor an aggregate", expr.place, hint=hint)
    if len(arguments) != 1:
        raise BindError(f"`{name}` takes one list of numbers, found {len(arguments)} arguments", expr.place, hint=hint)
    values = arguments[0]
    kind = settled(values.type)
    element = _element(name, kind, values, hint)
    whole = element is not None and element.name in _WHOLE
    wide = Cast(values.value, "HUGEINT[]" if whole else "DOUBLE[]")
    # What a lambda is given is computed once, however often it stands in it: first the list, then its two ends.
    scaled = _first_of(_ALL, wide, _first_of(_ENDS, _ends(whole=whole), _drawn(whole=whole)))
    return Bound(scaled, place=expr.place, parts=(values,), type=None if kind is None else VARCHAR)


def _element(name: str, kind: Type | None, values: Bound, hint: str) -> Type | None:
    """Return the type of the elements, None if it is not known."""
    if kind is None or kind.name == _NULL:
        return None
    element = kind.children[0] if kind.name in _LISTS else None
    if element is None or not (is_numeric(element.name) or element.name == _NULL):
        raise BindError(f"`{name}` takes a list of numbers, found {shown(kind)}", values.place, hint=hint)
    return element


def _first_of(parameter: Column, value: Expression, body: Expression) -> Expression:
    """Compute a value, and an expression in which a column stands for it."""
    return call("list_extract", call("list_transform", List((value,)), Lambda((parameter.name,), body)), number(1))


def _ends(*, whole: bool) -> Expression:
    """Write the least and the greatest number."""
    finite = _ALL if whole else call("list_filter", _ALL, Lambda((_ONE.name,), call("isfinite", _ONE)))
    return List((call("list_min", finite), call("list_max", finite)))


def _drawn(*, whole: bool) -> Expression:
    """Write the text of all numbers, using their known extremes."""
    blank, lowest, highest = (Text(block) for block in (" ", _BLOCKS[0], _BLOCKS[-1]))
    branches: list[tuple[Expression, Expression]] = [(IsNull(_ONE), blank)]
    if not whole:
        branches.append((call("isnan", _ONE), blank))
        branches.append((call("isinf", _ONE), case((greater(_ONE, number(0)), highest), default=lowest)))
    branches.append((equal(_LOW, _HIGH), lowest))
    level = call("least", _eighths(whole=whole), number(len(_BLOCKS) - 1))
    block = call("substr", Text(_BLOCKS), Cast(plus(level, number(1)), "BIGINT"), number(1))
    drawn = call("list_transform", _ALL, Lambda((_ONE.name,), case(*branches, default=block)))
    return call("array_to_string", drawn, Text(""))


def _eighths(*, whole: bool) -> Expression:
    """Write how many whole eighths of the way from the least to the greatest a number is on."""
    above, width = minus(_ONE, _LOW), minus(_HIGH, _LOW)
    parts = number(len(_BLOCKS))
    if whole:
        return Binary("//", times(above, parts), width)
    half = Number("0.5e0")
    one, low, high = (times(end, half) for end in (_ONE, _LOW, _HIGH))
    # The difference of two doubles may be beyond the largest one, that of their halves is not.
    halved = Binary("/", minus(one, low), minus(high, low))
    share = case((call("isfinite", width), Binary("/", above, width)), default=halved)
    return call("floor", times(share, parts))
