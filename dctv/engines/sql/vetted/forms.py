"""Scalar functions that need more than another name to mean the same on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dctv.engines.sql.vetted.casts import as_double, brought, cast, cast_to_common, compared, integer_of, not_zero
from dctv.engines.sql.vetted.functions import SCALARS, Vetted
from dctv.engines.sql.vetted.refusal import refused, unknown
from dctv.engines.sql.vetted.regex import portable
from dctv.engines.sql.vetted.scope import Typed
from dctv.engines.sql.vetted.types import BITS, BOOLEAN, INTEGER, NUMBERS, VARCHAR, kind_of, spark_name
from dctv.plan.build import call, case, is_not_null, negated
from dctv.plan.expressions import FALSE, NULL, And, Binary, Cast, Expression, InList, Number, Or, Text, Unary
from dctv.signatures.casts import settled
from dctv.signatures.functions import result_type
from dctv.signatures.types import Type

Form = Callable[[Sequence[Typed]], Expression]

_EXACT = Number("4503599627370496e0")
"""2^52: doubles from here on have no fraction."""
_INFINITIES = tuple(Cast(Text(text), "DOUBLE") for text in ("Infinity", "-Infinity"))
_MOST_DIGITS = 15


def scalar(name: str, arguments: Sequence[Typed]) -> Typed:
    """Write a call of a scalar function, by its name in the plan.

    Raises:
        NotOnThisEngine: it is not vetted, or not for such arguments.
    """
    if name not in SCALARS and name not in FORMS:
        raise refused(f"the function `{name}`", "it has not been vetted")
    known_types = [one.type for one in arguments if one.type is not None]
    made = result_type(name, known_types) if len(known_types) == len(arguments) else None
    if name in FORMS:
        try:
            return Typed(FORMS[name](arguments), made)
        except (IndexError, ValueError):
            raise refused(f"`{name}` of {len(arguments)} arguments", "it has not been vetted") from None
    return Typed(_vetted(name, SCALARS[name], arguments, made), made)


def _vetted(name: str, vetted: Vetted, arguments: Sequence[Typed], made: Type | None) -> Expression:
    check(name, vetted, arguments)
    values = [one.value for one in arguments]
    if vetted.alike:
        values, made = cast_to_common(arguments)
    elif vetted.doubles:
        values = [as_double(one) for one in arguments]
    written: Expression = call(vetted.name, *values)
    if vetted.narrow:
        if made is None:
            raise unknown(f"`{name}`")
        written = Cast(written, spark_name(made))
    return written


def check(name: str, vetted: Vetted, arguments: Sequence[Typed]) -> None:
    """Refuse arguments that are not vetted."""
    takes = vetted.takes
    if vetted.repeats and len(arguments) > len(takes):
        takes = takes + takes[-1:] * (len(arguments) - len(takes))
    if len(takes) != len(arguments):
        raise refused(f"`{name}` of {len(arguments)} arguments", "it has not been vetted")
    for kinds, one in zip(takes, arguments, strict=True):
        if one.type is not None and kind_of(one.type) not in (*kinds, "null"):
            raise refused(f"`{name}` of `{settled(one.type)}`", "it has not been vetted")


def _typed(name: str, typed: Typed) -> Type:
    if typed.type is None:
        raise unknown(f"`{name}`")
    return settled(typed.type)


def _is_float(name: str, typed: Typed) -> bool:
    found = kind_of(_typed(name, typed))
    if found not in NUMBERS:
        raise refused(f"`{name}` of `{typed.type}`", "it has not been vetted")
    return found == "float"


def _texts(name: str, *arguments: Typed) -> list[Expression]:
    for one in arguments:
        if kind_of(_typed(name, one)) not in ("text", "null"):
            raise refused(f"`{name}` of `{one.type}`", "it has not been vetted")
    return [one.value for one in arguments]


def _small(value: Expression, changed: Expression) -> Expression:
    """Change a double unless it is too large to have a fraction; infinities stay, too."""
    return case((Binary("<", call("abs", value), _EXACT), changed), default=value)


def _towards(name: str) -> Form:
    """Write `floor` and `ceil`, which return integers on Spark."""

    def form(arguments: Sequence[Typed]) -> Expression:
        (one,) = arguments
        if _is_float(name, one):
            value = as_double(one)
            return _small(value, Cast(call(name, value), "DOUBLE"))
        if kind_of(_typed(name, one)) == "integer":
            return Cast(one.value, "DOUBLE")
        raise refused(f"`{name}` of `{one.type}`", "it has not been vetted")

    return form


def _trunc(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    if kind_of(_typed("trunc", one)) == "integer":
        return one.value
    if not _is_float("trunc", one):
        raise refused(f"`trunc` of `{one.type}`", "it has not been vetted")
    value = as_double(one)
    return _small(value, Cast(Cast(value, "BIGINT"), "DOUBLE"))


def _round(arguments: Sequence[Typed]) -> Expression:
    """Round as DuckDB does: multiply a double by a power of ten, instead of rounding its decimal digits."""
    one, *more = arguments
    digits = integer_of(more[0].value) if more else 0
    if digits is None or not 0 <= digits <= _MOST_DIGITS or len(more) > 1:
        raise refused(
            "`round` to a number of digits that is not a literal from 0 to 15", "it is computed differently there"
        )
    if kind_of(_typed("round", one)) == "integer":
        return one.value
    if not _is_float("round", one):
        raise refused(f"`round` of `{one.type}`", "it has not been vetted")
    value = as_double(one)
    if not digits:
        return _small(value, call("round", value))
    power = Number(f"1e{digits}")
    return _small(value, Binary("/", call("round", Binary("*", value, power)), power))


def _length(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    if kind_of(_typed("length", one)) == "list":
        return Cast(call("array_size", one.value), "BIGINT")
    return Cast(call("char_length", *_texts("length", one)), "BIGINT")


def _concat(arguments: Sequence[Typed]) -> Expression:
    return call("concat_ws", Text(""), *_as_texts("concat", arguments))


def _concat_ws(arguments: Sequence[Typed]) -> Expression:
    separator, *others = arguments
    return call("concat_ws", *_texts("concat_ws", separator), *_as_texts("concat_ws", others))


def _as_texts(name: str, arguments: Sequence[Typed]) -> list[Expression]:
    """Cast arguments that are not texts explicitly, since Spark's text functions convert them differently."""
    for one in arguments:
        if kind_of(_typed(name, one)) == "list":
            raise refused(f"`{name}` of lists", "it has not been vetted")
    return [brought(one, VARCHAR) for one in arguments]


def _literal(name: str, typed: Typed, least: int) -> Expression:
    found = integer_of(typed.value)
    if found is None or found < least:
        raise refused(
            f"`{name}` with a position or length that is not a literal of at least {least}",
            "it counts differently there",
        )
    return Number(str(found))


def _substring(arguments: Sequence[Typed]) -> Expression:
    text, start, *length = arguments
    values = [*_texts("substring", text), _literal("substring", start, 1)]
    return call("substring", *values, *(_literal("substring", one, 0) for one in length))


def _side(name: str) -> Form:
    def form(arguments: Sequence[Typed]) -> Expression:
        text, length = arguments
        return call(name, *_texts(name, text), _literal(name, length, 0))

    return form


def _split_part(arguments: Sequence[Typed]) -> Expression:
    text, separator, at = arguments
    if not isinstance(separator.value, Text) or not separator.value.value:
        raise refused("`split_part` by a value that is not a literal", "an empty separator splits differently there")
    return call("split_part", *_texts("split_part", text), separator.value, _literal("split_part", at, 1))


def _repeat(arguments: Sequence[Typed]) -> Expression:
    text, count = arguments
    return call("repeat", *_texts("repeat", text), cast(count, INTEGER))


def _pad(name: str) -> Form:
    def form(arguments: Sequence[Typed]) -> Expression:
        text, length, filling = arguments
        if not isinstance(filling.value, Text) or not filling.value.value:
            raise refused(f"`{name}` with a value that is not a literal", "an empty one is not an error there")
        return call(name, *_texts(name, text), _literal(name, length, 0), filling.value)

    return form


def _pattern(name: str, typed: Typed) -> str:
    if not isinstance(typed.value, Text):
        raise refused(f"`{name}` with a regular expression that is not a literal", "some have another meaning there")
    return portable(typed.value.value)


def _regexp_matches(arguments: Sequence[Typed]) -> Expression:
    text, pattern = arguments
    return call("regexp_like", *_texts("regexp_matches", text), Text(_pattern("regexp_matches", pattern)))


def _regexp_full_match(arguments: Sequence[Typed]) -> Expression:
    text, pattern = arguments
    whole = Text(rf"^(?:{_pattern('regexp_full_match', pattern)})\z")
    return call("regexp_like", *_texts("regexp_full_match", text), whole)


def _regexp_extract(arguments: Sequence[Typed]) -> Expression:
    text, pattern, *group = arguments
    number = _literal("regexp_extract", group[0], 0) if group else Number("0")
    if len(group) > 1:
        raise refused("`regexp_extract` with options", "options differ there")
    values = [*_texts("regexp_extract", text), Text(_pattern("regexp_extract", pattern)), number]
    return call("regexp_extract", *values)


def _regexp_replace(arguments: Sequence[Typed]) -> Expression:
    text, pattern, new, *options = arguments
    if not isinstance(new.value, Text) or set(new.value.value) & set("\\$"):
        raise refused(
            "`regexp_replace` with a replacement that is not a literal, or has `\\` or `$`",
            "these have another meaning there",
        )
    if [one.value for one in options] != [Text("g")]:
        raise refused("`regexp_replace` without the option 'g'", "all matches are replaced there")
    return call("regexp_replace", *_texts("regexp_replace", text), Text(_pattern("regexp_replace", pattern)), new.value)


def _isnan(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    _is_float("isnan", one)
    return case((is_not_null(one.value), call("isnan", one.value)))


def _isinf(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    _is_float("isinf", one)
    return InList(one.value, _INFINITIES)


def _isfinite(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    finite = negated(Or((call("isnan", one.value), _isinf(arguments))))
    return case((is_not_null(one.value), finite))


def _if(arguments: Sequence[Typed]) -> Expression:
    test, yes, no = arguments
    (first, second), _ = cast_to_common([yes, no], first=no)
    return case((brought(test, BOOLEAN), first), default=second)


def _sign(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    positive: Expression = Binary(">", one.value, Number("0"))
    if _is_float("sign", one):
        positive = And((positive, negated(call("isnan", one.value))))
    negative = Binary("<", one.value, Number("0"))
    tested = case((positive, Number("1")), (negative, Unary("-", Number("1"))), default=Number("0"))
    return case((is_not_null(one.value), Cast(tested, "TINYINT")))


def _nullif(arguments: Sequence[Typed]) -> Expression:
    """Compare, and return the first argument unchanged: Spark casts it to the common type."""
    first, second = arguments
    one, other = compared([first, second])
    return case((Binary("=", one, other), NULL), default=first.value)


def _xor(arguments: Sequence[Typed]) -> Expression:
    """Write XOR with operators that all engines spell alike."""
    left, right = arguments
    if any(_typed("xor", one).name not in BITS for one in arguments):
        raise refused("`xor` of such integers", "Spark has no integers with the same bits")
    return Binary("-", Binary("|", left.value, right.value), Binary("&", left.value, right.value))


def _mod(arguments: Sequence[Typed]) -> Expression:
    left, right = arguments
    _is_float("mod", left)
    _is_float("mod", right)
    return Binary("%", left.value, not_zero(right.value))


def _hex(arguments: Sequence[Typed]) -> Expression:
    (one,) = arguments
    if kind_of(_typed("hex", one)) == "text" or _typed("hex", one).name in BITS:
        return call("hex", one.value)
    raise refused(f"`hex` of `{one.type}`", "it has not been vetted")


def _sha256(arguments: Sequence[Typed]) -> Expression:
    return call("sha2", *_texts("sha256", *arguments), Number("256"))


def _error(arguments: Sequence[Typed]) -> Expression:
    return call("raise_error", *_texts("error", *arguments))


def _list_value(arguments: Sequence[Typed]) -> Expression:
    return call("array", *cast_to_common(arguments)[0])


def _contains(arguments: Sequence[Typed]) -> Expression:
    """Return FALSE, not NULL, for a list that contains NULL but not the element."""
    listed, one = arguments
    found = call("coalesce", call("array_contains", listed.value, one.value), FALSE)
    return case((And((is_not_null(listed.value), is_not_null(one.value))), found))


def _extract(arguments: Sequence[Typed]) -> Expression:
    listed, place = arguments
    if kind_of(_typed("list_extract", listed)) != "list":
        raise refused(f"an element of `{listed.type}`", "it has not been vetted")
    return call("try_element_at", listed.value, _literal("list_extract", place, 1))


FORMS: Mapping[str, Form] = {
    "ceil": _towards("ceil"),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "error": _error,
    "floor": _towards("floor"),
    "hex": _hex,
    "if": _if,
    "isfinite": _isfinite,
    "isinf": _isinf,
    "isnan": _isnan,
    "left": _side("left"),
    "len": _length,
    "length": _length,
    "list_contains": _contains,
    "list_extract": _extract,
    "list_value": _list_value,
    "lpad": _pad("lpad"),
    "mod": _mod,
    "nullif": _nullif,
    "regexp_extract": _regexp_extract,
    "regexp_full_match": _regexp_full_match,
    "regexp_matches": _regexp_matches,
    "regexp_replace": _regexp_replace,
    "repeat": _repeat,
    "right": _side("right"),
    "round": _round,
    "rpad": _pad("rpad"),
    "sha256": _sha256,
    "sign": _sign,
    "split_part": _split_part,
    "substring": _substring,
    "trunc": _trunc,
    "xor": _xor,
}
"""By their names in the plan."""
