"""Convert expressions of the plan to equivalent expressions for Spark, with their types in the plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dctv.contracts.engine import ZERO_DIVISION
from dctv.engines.sql.vetted import aggregates
from dctv.engines.sql.vetted.casts import (
    as_double,
    brought,
    cast,
    cast_to_common,
    compared,
    failing,
    integer_of,
    not_zero,
    pattern_of,
)
from dctv.engines.sql.vetted.forms import scalar
from dctv.engines.sql.vetted.functions import AGGREGATES, NAMES
from dctv.engines.sql.vetted.gaps import EXTREMES, LETTERS, OVERFLOW
from dctv.engines.sql.vetted.refusal import refused, unknown
from dctv.engines.sql.vetted.scope import Typed, VettedScope
from dctv.engines.sql.vetted.types import (
    BITS,
    BOOLEAN,
    DOUBLE,
    NULL,
    NUMBERS,
    TEXT_LITERAL,
    VARCHAR,
    kind_of,
    named,
    spark_name,
)
from dctv.plan import expressions as e
from dctv.plan.build import call, case, is_not_null, start_by_name
from dctv.record import replace
from dctv.signatures.casts import settled
from dctv.signatures.functions import operator_type
from dctv.signatures.types import Type, decimal, integer_literal, list_of

_LARGEST = 2**127
_DIGITS = 38
_DOUBLE = re.compile(r"[0-9]*\.?[0-9]*e[-+]?[0-9]+")
_DECIMAL = re.compile(r"([0-9]*)\.([0-9]*)")
_LISTS = {
    "list_transform": "transform",
    "list_apply": "transform",
    "array_transform": "transform",
    "list_filter": "filter",
    "array_filter": "filter",
}
_BITS = ("<<", ">>", "&", "|")
_WIDTHS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


def value(node: e.Expression, scope: VettedScope) -> e.Expression:
    """Write an expression and ignore its type."""
    return typed(node, scope).value


def condition(node: e.Expression, scope: VettedScope) -> e.Expression:
    """Write a condition."""
    return brought(typed(node, scope), BOOLEAN)


def typed(node: e.Expression, scope: VettedScope) -> Typed:
    """Write an expression, and return its type with it.

    Raises:
        NotOnThisEngine: Spark has no equivalent.
    """
    return _FORMS[type(node)](node, scope)


def _all(nodes: Sequence[e.Expression], scope: VettedScope) -> list[Typed]:
    return [typed(one, scope) for one in nodes]


def _refused(what: str, why: str, hint: str | None = None) -> Callable[[Any, VettedScope], Typed]:
    def form(_: e.Expression, __: VettedScope) -> Typed:
        raise refused(what, why) if hint is None else refused(what, why, hint)

    return form


def _number(node: e.Number, _: VettedScope) -> Typed:
    found = _DECIMAL.fullmatch(node.text)
    if node.text.isdecimal() and int(node.text) < _LARGEST and len(node.text) <= _DIGITS:
        return Typed(node, integer_literal(int(node.text)))
    if _DOUBLE.fullmatch(node.text.lower()):
        return Typed(node, DOUBLE)
    if found is not None and 0 < len(found[1] + found[2]) <= _DIGITS:
        return Typed(node, decimal(max(len(found[1] + found[2]), 1), len(found[2])))
    raise refused(f"the number {node.text}", "it does not fit")


def _unary(node: e.Unary, scope: VettedScope) -> Typed:
    if node.operator == "NOT":
        return Typed(e.Unary("NOT", condition(node.operand, scope)), BOOLEAN)
    one = typed(node.operand, scope)
    made = None if one.type is None else operator_type(node.operator, [one.type])
    if one.type is not None and kind_of(one.type) not in (*NUMBERS, "null"):
        raise refused(f"`{node.operator}` of `{one.type}`", "it has not been vetted")
    if node.operator == "~":
        _check_bits("~", [one])
    return Typed(e.Unary(node.operator, one.value), made)


def _binary(node: e.Binary, scope: VettedScope) -> Typed:
    left, right = typed(node.left, scope), typed(node.right, scope)
    if node.operator in e.COMPARISONS:
        if any(one.type is not None and settled(one.type).name == "LIST" for one in (left, right)):
            raise refused("comparing lists", "0.0 and -0.0 in lists differ there")
        first, second = compared([left, right])
        return Typed(e.Binary(node.operator, first, second), BOOLEAN)
    both = None if left.type is None or right.type is None else operator_type(node.operator, [left.type, right.type])
    if node.operator == "||":
        return _joined(left, right)
    if node.operator in _BITS:
        return Typed(_bits(node.operator, left, right), both)
    for one in (left, right):
        if one.type is not None and kind_of(one.type) not in (*NUMBERS, "null"):
            raise refused(f"`{node.operator}` of `{settled(one.type)}`", "it has not been vetted")
    if node.operator in ("/", "//", "%"):
        return Typed(_quotient(node.operator, left, right), both)
    if OVERFLOW in scope.gaps and both is not None and settled(both).name in BITS:
        return Typed(_checked(node.operator, left, right, settled(both)), both)
    first, second = compared([left, right])
    return Typed(e.Binary(node.operator, first, second), both)


def _checked(operator: Any, left: Typed, right: Typed, made: Type) -> e.Expression:
    """Compute in a wider type, and cast the result, which fails if it does not fit."""
    wide = "BIGINT" if made.name != "BIGINT" else "DECIMAL(19, 0)" if operator == "*" else "DECIMAL(20, 0)"
    return e.Cast(e.Binary(operator, e.Cast(left.value, wide), e.Cast(right.value, wide)), spark_name(made))


def _joined(left: Typed, right: Typed) -> Typed:
    for one in (left, right):
        if one.type is None:
            raise unknown("`||`")
        if kind_of(one.type) in ("list", "bytes"):
            raise refused(f"`||` of `{one.type}`", "it has not been vetted")
    return Typed(e.Binary("||", brought(left, VARCHAR), brought(right, VARCHAR)), VARCHAR)


def _check_bits(operator: str, operands: Sequence[Typed]) -> Type:
    """Return the widest of the operands' integer types, if Spark has the same bits."""
    found = [settled(one.type).name for one in operands if one.type is not None and one.type != NULL]
    if len(found) < len(operands) or not all(name in BITS for name in found):
        raise refused(f"`{operator}` of other integers than INT8 to INT64", "Spark has no integers with the same bits")
    return named(max(found, key=lambda name: _WIDTHS[name]))


def _bits(operator: str, left: Typed, right: Typed) -> e.Expression:
    """Write a bitwise operator; shifts must be shorter than the width, since Spark takes the remainder."""
    widest = _check_bits(operator, [left, right])
    if operator in ("&", "|"):
        return e.Binary(operator, left.value, right.value)
    function = "shiftleft" if operator == "<<" else "shiftright"
    by, most = integer_of(right.value), _WIDTHS[widest.name] - 1
    shifted = e.Cast(left.value, "INT" if widest.name == "INTEGER" else "BIGINT")
    if widest.name not in ("INTEGER", "BIGINT"):
        raise refused(f"`{operator}` of `{widest}`", "it is computed in 32 bits there", "cast it to INT64 first")
    if by is not None and 0 <= by <= most:
        return call(function, shifted, e.Number(str(by)))
    if operator == "<<":
        raise refused("`<<` by a value that is not a literal below the width", "it does not detect overflow there")
    within = e.Between(right.value, e.Number("0"), e.Number(str(most)))
    return case(
        (within, call(function, shifted, e.Cast(right.value, "INT"))),
        (e.And((is_not_null(left.value), is_not_null(right.value))), e.Number("0")),
    )


def _quotient(operator: str, left: Typed, right: Typed) -> e.Expression:
    if operator == "/":
        made = e.Binary("/", as_double(left), not_zero(as_double(right)))
        single = {"FLOAT"} == {one.type.name for one in (left, right) if one.type is not None}
        return e.Cast(made, "FLOAT") if single else made
    if left.type is None or right.type is None:
        raise unknown(f"`{operator}`")
    kinds = {kind_of(left.type), kind_of(right.type)} - {"null"}
    if operator == "//" and "float" in kinds:
        # DuckDB's operator keeps the fraction of doubles; the plan truncates explicitly.
        return e.Binary("/", as_double(left), not_zero(as_double(right)))
    if not kinds <= {"integer", "float"}:
        raise refused(f"`{operator}` of decimals", "it has not been vetted")
    if operator == "//" and not {settled(left.type).name, settled(right.type).name} <= {*BITS, NULL.name}:
        raise refused("`//` of other integers than INT8 to INT64", "it is computed with fractions there")
    first, second = compared([left, right])
    return e.Binary(operator, first, not_zero(second))


def _chain(form: type[e.And | e.Or]) -> Callable[[Any, VettedScope], Typed]:
    return lambda node, scope: Typed(form(tuple(condition(one, scope) for one in node.parts)), BOOLEAN)


def _like(node: e.Like, scope: VettedScope) -> Typed:
    if node.operator == "GLOB":
        raise refused("GLOB", "there is no such operator", "write it with LIKE or REGEXP")
    subject, pattern = _all([node.operand, node.pattern], scope)
    for one in (subject, pattern):
        if one.type is not None and kind_of(one.type) not in ("text", "null"):
            raise refused(f"{node.operator} of `{one.type}`", "it has not been vetted")
    escape = None if node.escape is None else value(node.escape, scope)
    if escape is not None and not (isinstance(escape, e.Text) and len(escape.value) == 1):
        raise refused("ESCAPE with a text that is not a single character", "Spark does not allow that")
    written = pattern_of(pattern) if escape is None else pattern.value
    return Typed(e.Like(node.operator, subject.value, written, escape), BOOLEAN)


def _between(node: e.Between, scope: VettedScope) -> Typed:
    one, low, high = compared(_all([node.operand, node.low, node.high], scope))
    return Typed(e.Between(one, low, high), BOOLEAN)


def _in_list(node: e.InList, scope: VettedScope) -> Typed:
    one, *items = compared(_all([node.operand, *node.items], scope))
    return Typed(e.InList(one, tuple(items)), BOOLEAN)


def _in_query(node: e.InQuery, scope: VettedScope) -> Typed:
    if node.words != "IN":
        raise unknown(f"{node.words} with a query")
    one = typed(node.operand, scope)
    query, columns = scope.nested(node.query, scope.within())
    if columns is None or len(columns) != 1:
        raise unknown("IN with a query")
    if one.type is not None and columns[0][1] is not None and kind_of(one.type) != kind_of(columns[0][1]):
        raise refused(f"`{one.type}` IN `{columns[0][1]}`", "they are cast to another type there")
    return Typed(e.InQuery(one.value, query), BOOLEAN)


def _exists(node: e.Exists, scope: VettedScope) -> Typed:
    return Typed(e.Exists(scope.nested(node.query, scope.within())[0]), BOOLEAN)


def _subquery(node: e.Subquery, scope: VettedScope) -> Typed:
    query, columns = scope.nested(node.query, scope.within())
    return Typed(e.Subquery(query), columns[0][1] if columns else None)


def _case(node: e.Case, scope: VettedScope) -> Typed:
    values = _all([one for _, one in node.branches], scope)
    default = Typed(e.NULL, NULL) if node.default is None else typed(node.default, scope)
    (*results, last), made = cast_to_common([*values, default], first=default)
    operand, tests = None, [condition(test, scope) for test, _ in node.branches] if node.operand is None else []
    if node.operand is not None:
        operand, *tests = compared(_all([node.operand, *(test for test, _ in node.branches)], scope))
    branches = tuple(zip(tests, results, strict=True))
    return Typed(e.Case(branches, None if node.default is None else last, operand), made)


def _cast(node: e.Cast, scope: VettedScope) -> Typed:
    target = named(node.type)
    return Typed(cast(typed(node.operand, scope), target, lenient=node.lenient), target)


def _list(node: e.List, scope: VettedScope) -> Typed:
    return scalar("list_value", _all(node.items, scope))


def _call(node: e.Call, scope: VettedScope) -> Typed:
    if node.function == ZERO_DIVISION:
        return Typed(e.Cast(e.NULL, "DOUBLE"), DOUBLE)
    name = NAMES.get(node.function, node.function)
    if node.function in _LISTS:
        return _of_list(_LISTS[node.function], node, scope)
    if name in AGGREGATES or name in aggregates.FORMS:
        return aggregates.aggregate(_parts(name, node, scope, None))
    if node.distinct or node.order_by or node.filter is not None or node.nulls is not None:
        raise refused(f"`{node.function}` with DISTINCT, ORDER BY, FILTER or NULLS", "it has not been vetted")
    made = scalar(name, _all(node.arguments, scope))
    if name in ("upper", "lower") and LETTERS in scope.gaps:
        return Typed(_of_plain_letters(made.value, scalar("upper", _all(node.arguments, scope))), made.type)
    return made


def _of_plain_letters(made: e.Expression, changed: Typed) -> e.Expression:
    """Fail on a letter beyond ASCII: some of them become two letters."""
    (text,) = changed.value.arguments if isinstance(changed.value, e.Call) else (made,)
    plain = call("rlike", text, e.Text(r"\A[\x00-\x7f]*\z"))
    other = e.And((e.Unary("NOT", plain), is_not_null(text)))
    return case((other, failing("letters beyond ASCII in `upper` or `lower`", VARCHAR)), default=made)


def _of_list(name: str, node: e.Call, scope: VettedScope) -> Typed:
    """Write a function of each element of a list."""
    listed = typed(node.arguments[0], scope)
    function = node.arguments[1] if len(node.arguments) == 2 else None
    if not isinstance(function, e.Lambda) or len(function.parameters) != 1:
        raise refused(f"such a call of `{node.function}`", "it has not been vetted")
    if listed.type is None or listed.type.name != "LIST":
        raise unknown(f"`{node.function}`")
    inner = scope.with_parameters({function.parameters[0]: listed.type.children[0]})
    body = typed(function.body, inner)
    written = brought(body, BOOLEAN) if name == "filter" else body.value
    made = listed.type if name == "filter" else None if body.type is None else list_of(settled(body.type))
    return Typed(call(name, listed.value, e.Lambda(function.parameters, written)), made)


def _parts(name: str, node: e.Call, scope: VettedScope, window: e.Window | None) -> aggregates.Parts:
    if node.nulls == "IGNORE" and name not in aggregates.VALUES:
        raise refused(f"`{name}` with IGNORE NULLS", "it has not been vetted")
    return aggregates.Parts(
        name,
        tuple(_all(node.arguments, scope)),
        node.distinct,
        ordered(node.order_by, scope),
        None if node.filter is None else condition(node.filter, scope),
        window,
        EXTREMES in scope.gaps,
    )


def ordered(terms: Sequence[e.Ordered], scope: VettedScope) -> tuple[e.Ordered, ...]:
    """Write sort terms."""
    return tuple(replace(one, operand=_sortable(one.operand, scope)) for one in terms)


def _sortable(node: e.Expression, scope: VettedScope) -> e.Expression:
    one = typed(node, scope)
    if one.type is not None and kind_of(one.type) == "list":
        raise refused("sorting by lists", "it has not been vetted")
    return one.value


def _window(node: e.Window, scope: VettedScope) -> Typed:
    name = NAMES.get(node.call.function, node.call.function)
    window = e.Window(
        node.call,
        tuple(value(one, scope) for one in node.partition_by),
        ordered(node.order_by, scope),
        _frame(node, scope),
    )
    parts = _parts(name, node.call, scope, window)
    if name in aggregates.RANKS or name in aggregates.VALUES:
        return aggregates.over(parts, node.call.nulls)
    if name in AGGREGATES or name in aggregates.FORMS:
        return aggregates.aggregate(parts)
    raise refused(f"`{name}` over a window", "it has not been vetted")


def _frame(window: e.Window, scope: VettedScope) -> e.Frame | None:
    frame = window.frame
    if frame is None:
        return None
    whole = (frame.start.kind, frame.stop.kind) == ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")
    if frame.unit == "GROUPS":
        raise refused("a frame of GROUPS", "there are only ROWS and RANGE")
    if frame.exclude is not None:
        raise refused(f"EXCLUDE {frame.exclude}", "a frame has all rows between its ends")
    if not window.order_by and not whole:
        raise refused(
            "a frame of rows without ORDER BY", "the rows have no order there", "sort the window by something"
        )
    return e.Frame(frame.unit, _end(frame.start, window, scope), _end(frame.stop, window, scope))


def _end(end: e.FrameEnd, window: e.Window, scope: VettedScope) -> e.FrameEnd:
    if end.offset is None:
        return end
    offset = integer_of(end.offset)
    if offset is None or offset < 0:
        raise refused("the end of a frame that is no literal integer", "it must be one there")
    assert window.frame is not None
    if window.frame.unit == "RANGE":
        keys = [typed(one.operand, scope).type for one in window.order_by]
        if len(keys) != 1 or keys[0] is None or settled(keys[0]).name not in BITS:
            raise refused("a RANGE by other values than integers", "it has not been vetted")
    return replace(end, offset=e.Number(str(offset)))


_FORMS: Mapping[type, Callable[[Any, VettedScope], Typed]] = {
    e.Column: lambda node, scope: Typed(node, scope.type_of(node)),
    e.Star: lambda node, _: Typed(node, None),
    e.Null: lambda node, _: Typed(node, NULL),
    e.Boolean: lambda node, _: Typed(node, BOOLEAN),
    e.Number: _number,
    e.Text: lambda node, _: Typed(node, TEXT_LITERAL),
    e.Unary: _unary,
    e.Binary: _binary,
    e.And: _chain(e.And),
    e.Or: _chain(e.Or),
    e.IsNull: lambda node, scope: Typed(e.IsNull(value(node.operand, scope)), BOOLEAN),
    e.Like: _like,
    e.Between: _between,
    e.InList: _in_list,
    e.InQuery: _in_query,
    e.Exists: _exists,
    e.Subquery: _subquery,
    e.Case: _case,
    e.Cast: _cast,
    e.StartOf: lambda node, scope: typed(start_by_name(node), scope),
    e.Row: _refused("a row of values", "its comparisons treat NULLs differently", "compare the values one by one"),
    e.List: _list,
    e.Struct: _refused("a struct", "it has not been vetted", "select them as columns"),
    e.Collate: _refused("COLLATE", "collations have other names there"),
    e.Lambda: _refused("a lambda", "it is allowed only in list_transform and list_filter"),
    e.Keyword: _refused("a named argument", "no vetted function has one"),
    e.Call: _call,
    e.State: _refused(
        "EXPORT_STATE", "states of aggregates have another format there", "store sums and counts as columns"
    ),
    e.Window: _window,
}
