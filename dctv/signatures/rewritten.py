"""Calls that the engine rewrites, and that its catalogue does not list: macros, and special forms of its parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.signatures.casts import settled
from dctv.signatures.combine import common, comparable
from dctv.signatures.types import Type, integer_literal, parse, plain

Call = Callable[[str, tuple[Type, ...]], Type | None]
"""Tells the result of another call."""
Rule = Callable[[Call, tuple[Type, ...]], Type | None]

_OF_LISTS = """
any_value approx_count_distinct avg bit_and bit_or bit_xor bool_and bool_or count entropy first histogram kurtosis
kurtosis_pop last mad max median min mode product sem skewness stddev_pop stddev_samp string_agg sum var_pop var_samp
"""
"""Aggregates that are there for the elements of a list: `list_sum`."""
_NOW = plain("TIMESTAMP WITH TIME ZONE")


def _chain(*names: str) -> Rule:
    """Make the rule of calls within calls, the innermost first."""

    def rule(call: Call, arguments: tuple[Type, ...]) -> Type | None:
        for name in names:
            found = call(name, arguments)
            if found is None:
                return None
            arguments = (found,)
        return arguments[0]

    return _taking(1 if names[0] != "/" else 2, rule)


def _taking(count: int, rule: Rule) -> Rule:
    """Refuse calls with another number of arguments."""
    return lambda call, arguments: rule(call, arguments) if len(arguments) == count else None


def _coalesce(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return common(arguments)


def _if(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return common((arguments[2], arguments[1]))


def _nullif(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return settled(arguments[0]) if comparable(arguments, equality=True) else None


def _fmod(call: Call, arguments: tuple[Type, ...]) -> Type | None:
    left, right = arguments
    quotient = call("/", (left, right))
    whole = None if quotient is None else call("floor", (quotient,))
    product = None if whole is None else call("*", (right, whole))
    return None if product is None else call("-", (left, product))


def _weighted(call: Call, arguments: tuple[Type, ...]) -> Type | None:
    value, weight = arguments
    product = call("*", (value, weight))
    weights = common((integer_literal(0), weight))
    above = None if product is None else call("sum", (product,))
    below = None if weights is None else call("sum", (weights,))
    return None if above is None or below is None else call("/", (above, below))


def _of_list(aggregate: str) -> Rule:
    def rule(call: Call, arguments: tuple[Type, ...]) -> Type | None:
        return call(aggregate, (arguments[0].children[0],)) if arguments[0].name in ("LIST", "ARRAY") else None

    return _taking(1, rule)


def _same_list(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return arguments[0] if arguments[0].name == "LIST" else None


def _element(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return settled(arguments[0].children[0]) if arguments[0].name in ("LIST", "ARRAY") else None


def _text_of_list(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of a list's text, for which the engine requires a constant separator."""
    return plain("VARCHAR") if arguments[0].name == "LIST" and arguments[1].name == "STRING_LITERAL" else None


def _with_element(at: int) -> Rule:
    """Make the rule of functions that put an element into the list that is the argument at a place."""

    def rule(call: Call, arguments: tuple[Type, ...]) -> Type | None:
        one = call("list_value", (arguments[1 - at],))
        return None if one is None else call("list_concat", (arguments[0], one) if at == 0 else (one, arguments[1]))

    return _taking(2, rule)


def _itself(_: Call, arguments: tuple[Type, ...]) -> Type | None:
    return settled(arguments[0])


def _renamed(name: str) -> Rule:
    return lambda call, arguments: call(name, arguments)


def _always(text: str, *taken: str) -> Rule:
    """Make the rule of functions that return a fixed type for arguments of given types, `ANY` for all."""

    def rule(_: Call, arguments: tuple[Type, ...]) -> Type | None:
        fits = all(one in ("ANY", settled(given).name) for one, given in zip(taken, arguments, strict=True))
        return parse(text) if fits else None

    return _taking(len(taken), rule)


REWRITTEN: Mapping[str, Rule] = {
    "coalesce": _coalesce,
    "ifnull": _taking(2, _coalesce),
    "if": _taking(3, _if),
    "nullif": _taking(2, _nullif),
    "ago": _always(_NOW.text, "INTERVAL"),
    "date_add": _taking(2, _renamed("+")),
    "days_in_month": _chain("last_day", "day"),
    "fdiv": _chain("/", "floor"),
    "fmod": _taking(2, _fmod),
    **dict.fromkeys(("geomean", "geometric_mean"), _chain("ln", "avg", "exp")),
    **dict.fromkeys(("wavg", "weighted_avg"), _taking(2, _weighted)),
    **{f"list_{name}": _of_list(name) for name in _OF_LISTS.split()},
    **dict.fromkeys(("list_reverse", "array_reverse", "array_pop_back", "array_pop_front"), _taking(1, _same_list)),
    **dict.fromkeys(("list_append", "array_append", "array_push_back"), _with_element(0)),
    **dict.fromkeys(("list_prepend", "array_prepend"), _with_element(1)),
    "array_push_front": _taking(2, lambda call, arguments: _with_element(1)(call, arguments[::-1])),
    "split_part": _always("VARCHAR", "VARCHAR", "VARCHAR", "INTEGER"),
    **dict.fromkeys(("array_to_string", "array_to_string_comma_default"), _taking(2, _text_of_list)),
    "try": _taking(1, _itself),
    "unnest": _taking(1, _element),
    "json": _always("JSON", "VARCHAR"),
    "json_group_array": _always("JSON", "ANY"),
    "json_group_object": _always("JSON", "ANY", "ANY"),
    "md5_number_lower": _always("UBIGINT", "VARCHAR"),
    "md5_number_upper": _always("UBIGINT", "VARCHAR"),
}
"""By lower-case name, the rule for the result of a call, given the calls that the engine rewrites it to."""
