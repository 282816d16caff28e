"""The vetted functions: their names on Spark, and the kinds of arguments for which they mean the same.

A function that is neither here nor in `forms` and `aggregates` is refused on Spark. tests/engines/sail/ tests each of
them with edge values.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.engines.sql.vetted.types import Kind
from dctv.record import record

_ANY: tuple[Kind, ...] = ("null", "bool", "integer", "decimal", "float", "text", "bytes", "date", "time")
_TEXT: tuple[Kind, ...] = ("text",)
_FLOAT: tuple[Kind, ...] = ("integer", "decimal", "float")


@record
class Vetted:
    """A function that means the same on Spark."""

    name: str
    """The name on Spark."""
    takes: tuple[tuple[Kind, ...], ...]
    """The kinds of values that are allowed for each argument."""
    repeats: bool = False
    """Whether the last argument may be repeated."""
    narrow: bool = False
    """Whether Spark's result has a narrower type, so that it must be cast before it is used."""
    doubles: bool = False
    """Whether numbers are cast to DOUBLE first."""
    alike: bool = False
    """Whether arguments are cast to one type."""


def _of_texts(name: str, count: int = 1, *, narrow: bool = False, repeats: bool = False) -> Vetted:
    return Vetted(name, (_TEXT,) * count, narrow=narrow, repeats=repeats)


def _of_doubles(*names: str, count: int = 1) -> dict[str, Vetted]:
    return {name: Vetted(name, (_FLOAT,) * count, doubles=True) for name in names}


_TRANSCENDENTAL = "acos asin atan atan2 cbrt cos cot degrees exp ln log10 log2 power radians sin tan"
_STATISTICS = "avg stddev_pop stddev_samp var_pop var_samp"
NEAR = frozenset(f"{_TRANSCENDENTAL} {_STATISTICS}".split())
"""Functions whose last digits may differ, depending on the algorithm."""

SCALARS: Mapping[str, Vetted] = {
    "abs": Vetted("abs", (("integer", "decimal", "float"),)),
    "bit_count": Vetted("bit_count", (("integer",),), narrow=True),
    "coalesce": Vetted("coalesce", (_ANY,), repeats=True, alike=True),
    "contains": _of_texts("contains", 2),
    "ends_with": _of_texts("endswith", 2),
    "greatest": Vetted("greatest", (_ANY,), repeats=True, alike=True),
    "instr": _of_texts("instr", 2, narrow=True),
    "least": Vetted("least", (_ANY,), repeats=True, alike=True),
    # Except letters that become two: 'ß', and 'İ' in `lower`.
    "lower": _of_texts("lower"),
    "upper": _of_texts("upper"),
    "ltrim": _of_texts("ltrim"),
    "rtrim": _of_texts("rtrim"),
    "trim": _of_texts("trim"),
    "md5": _of_texts("md5"),
    "sha1": _of_texts("sha1"),
    "pi": Vetted("pi", ()),
    "replace": _of_texts("replace", 3),
    "starts_with": _of_texts("startswith", 2),
    "strlen": _of_texts("octet_length", narrow=True),
    "translate": _of_texts("translate", 3),
    "sqrt": Vetted("sqrt", (_FLOAT,), doubles=True),
    **_of_doubles("acos", "asin", "atan", "cbrt", "cos", "cot", "degrees", "exp", "ln", "log10", "log2", "radians"),
    **_of_doubles("sin", "tan"),
    **_of_doubles("atan2", "power", count=2),
}
"""Scalar functions by their names in the plan."""

AGGREGATES: Mapping[str, Vetted] = {
    "bit_and": Vetted("bit_and", (("integer",),)),
    "bit_or": Vetted("bit_or", (("integer",),)),
    "bit_xor": Vetted("bit_xor", (("integer",),)),
    "bool_and": Vetted("bool_and", (("bool",),)),
    "bool_or": Vetted("bool_or", (("bool",),)),
    "max": Vetted("max", (_ANY,)),
    "min": Vetted("min", (_ANY,)),
    "median": Vetted("median", (_FLOAT,), doubles=True),
    **_of_doubles("stddev_pop", "stddev_samp", "var_pop", "var_samp"),
}
"""Aggregates that ignore NULLs and do not depend on the order of rows."""

NAMES: Mapping[str, str] = {
    "arbitrary": "any_value",
    "argmax": "arg_max",
    "argmin": "arg_min",
    "array_contains": "list_contains",
    "array_extract": "list_extract",
    "array_has": "list_contains",
    "array_length": "len",
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "countif": "count_if",
    "ifnull": "coalesce",
    "lcase": "lower",
    "list_element": "list_extract",
    "list_has": "list_contains",
    "log": "log10",
    "max_by": "arg_max",
    "mean": "avg",
    "min_by": "arg_min",
    "position": "instr",
    "pow": "power",
    "prefix": "starts_with",
    "stddev": "stddev_samp",
    "strpos": "instr",
    "substr": "substring",
    "suffix": "ends_with",
    "ucase": "upper",
    "variance": "var_samp",
}
"""Synonyms of functions, and the names that are used here."""
