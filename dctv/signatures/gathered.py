"""Types of an aggregate's arguments as the engine takes them, and the type of the data in its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.signatures.carried import carried
from dctv.signatures.casts import settled
from dctv.signatures.overloads import bound, chosen, filled
from dctv.signatures.types import Type, decimal, list_of, parse, plain

_OF_TEXTS = ("string_agg", "listagg", "group_concat")
"""Aggregates whose arguments become texts."""
_SET = (*_OF_TEXTS, "approx_top_k", "quantile", "quantile_cont", "quantile_disc", "approx_quantile")
"""Aggregates whose other arguments than the first are the same for all rows."""
_OPEN = ("ANY", "ARRAY", "DECIMAL", "ENUM", "LIST", "MAP", "STRUCT", "TUPLE", "UNION")
"""Types of parameters that the engine fills in when it binds a call."""
_SPREAD = "STRUCT(count UBIGINT, mean DOUBLE, dsquared DOUBLE)"
_JOINT = "STRUCT(count UBIGINT, meanx DOUBLE, meany DOUBLE, co_moment DOUBLE)"
_CORRELATION = f"STRUCT(cov_pop {_JOINT}, dev_pop_x {_SPREAD}, dev_pop_y {_SPREAD})"
_MEAN = "STRUCT(sum DOUBLE, count UBIGINT)"
_SLOPE = f"STRUCT(cov_pop {_JOINT}, var_pop {_SPREAD})"

SPREADS = ("var_pop", "var_samp", "variance", "stddev", "stddev_samp", "stddev_pop", "sem")
SHAPES = ("skewness", "kurtosis", "kurtosis_pop")
# Not `last` and `arg_min_nulls_last`: the engine combines their states in the wrong order.
ONES = ("any_value", "arbitrary", "first")
BESTS = ("arg_min", "argmin", "min_by", "arg_max", "argmax", "max_by", "arg_min_null", "arg_max_null")
_OF_PAIRS: Mapping[str, str] = {
    **dict.fromkeys(("covar_pop", "covar_samp"), _JOINT),
    "corr": _CORRELATION,
    **dict.fromkeys(("regr_avgx", "regr_avgy"), _MEAN),
    "regr_intercept": f"STRUCT(count UBIGINT, sum_x DOUBLE, sum_y DOUBLE, slope {_SLOPE})",
    "regr_r2": f"STRUCT(corr {_CORRELATION}, var_pop_x {_SPREAD}, var_pop_y {_SPREAD})",
    "regr_slope": _SLOPE,
    **dict.fromkeys(("regr_sxx", "regr_syy"), f"STRUCT(count UBIGINT, var_pop {_SPREAD})"),
    "regr_sxy": f"STRUCT(count UBIGINT, cov_pop {_JOINT})",
}
TOGETHER = tuple(_OF_PAIRS)
"""Aggregates of pairs of values."""
OF_DOUBLES = frozenset((*SPREADS, *SHAPES, *TOGETHER))
"""Aggregates that take any number as a double."""
_GATHERED: Mapping[str, str] = {
    **dict.fromkeys(SPREADS, _SPREAD),
    "skewness": "STRUCT(n UBIGINT, mean DOUBLE, m2 DOUBLE, m3 DOUBLE)",
    **dict.fromkeys(("kurtosis", "kurtosis_pop"), "STRUCT(n UBIGINT, mean DOUBLE, m2 DOUBLE, m3 DOUBLE, m4 DOUBLE)"),
    **_OF_PAIRS,
    **dict.fromkeys(ONES, 'STRUCT("value" {0})'),
    **dict.fromkeys(BESTS, 'STRUCT(arg {0}, "by" {1})'),
    "approx_quantile": "STRUCT(count UBIGINT, min DOUBLE, max DOUBLE, centroids STRUCT(mean DOUBLE, weight DOUBLE)[])",
    "approx_count_distinct": 'STRUCT("precision" UTINYINT, registers UTINYINT[])',
}
"""Data of states; {0} and {1} are the types of the arguments."""


def gathered(name: str, arguments: Sequence[Type]) -> Type | None:
    """Return the type of the data in an aggregate's states, given the types that it takes.

    Return None for other aggregates, and if Arrow lacks a type for part of the data and might not hold every value.
    """
    template = _GATHERED.get(name)
    made = None if template is None else parse(template.format(*arguments))
    return made if made is not None and carried(made) == made else None


def sets(name: str, place: int) -> bool:
    """Whether an argument configures an aggregate, rather than being a value that it aggregates."""
    return place > 0 and name in _SET


def argument_types(name: str, types: Sequence[Type]) -> list[Type] | None:
    """Return the types in which the engine gives an aggregate its arguments; None where only the engine knows."""
    given = [_as_share(one) for one in types]
    signature = chosen(name, given)
    bindings = None if signature is None else bound(signature, given)
    if signature is None or bindings is None:
        return None
    if name in _OF_TEXTS:
        return [plain("VARCHAR")] * len(given)
    parameters = [filled(signature.parameter(place), bindings) for place in range(len(given))]
    return [
        one if one is not None and _is_whole(one) else settled(own) for one, own in zip(parameters, given, strict=True)
    ]


def _as_share(found: Type) -> Type:
    """Return the type of numbers such as 0.5, or of lists of these, where they configure an aggregate."""
    if found.name == "LIST":
        return list_of(_as_share(found.children[0]))
    return decimal(2, 1) if found.name == "DOUBLE_LITERAL" else found


def _is_whole(parameter: Type) -> bool:
    """Whether a parameter's type determines that of its argument."""
    return all(map(_is_whole, parameter.children)) and (parameter.name not in _OPEN or bool(parameter.children))
