"""Result types that functions choose when the engine binds a call: the catalogue lists these as `ANY` or `DECIMAL`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dctv.signatures.casts import INTEGERS, NULL, STRUCTS, TEMPLATES, WIDTHS, as_decimal, settled
from dctv.signatures.combine import WIDEST, common
from dctv.signatures.table import Signature
from dctv.signatures.types import STATE, Type, array_of, decimal, integer_literal, list_of, map_of, plain, tuple_of

Rule = Callable[[Signature, tuple[Type, ...]], Type | None]
_LITERALS = ("INTEGER_LITERAL", "STRING_LITERAL", "DOUBLE_LITERAL")
_LISTS = ("LIST", "ARRAY")

_WIDEST_OF_64_BITS = 18
_SHARE_LIST = list_of(plain("DOUBLE_LITERAL"))
_ENDS = 2
"""The minimum number of bounds of a slice: start and stop."""
_BYTE, _WORD = 2**8, 2**16
_DOUBLE, _TEXT = plain("DOUBLE"), plain("VARCHAR")


def _first(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the first argument's type, or lists of it where the function returns some values."""
    own = settled(arguments[0])
    if signature.result.name == "DECIMAL" != own.name:
        return None  # a number that is cast to one
    return list_of(own) if signature.result.name == "LIST" else own


def _state(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return arguments[0] if arguments[0].name == STATE else None


def _whole(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Round a DECIMAL, to digits that are known only if they are a literal."""
    digits = integer_literal(0) if len(arguments) == 1 else arguments[1]
    if arguments[0].name != "DECIMAL" or digits.name != "INTEGER_LITERAL":
        return None
    width, scale = arguments[0].numbers
    return decimal(width, max(min(digits.numbers[0], scale), 0))


def _sum_of_two(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    if signature.more is not None:
        return _joined_lists(signature, arguments)
    if len(arguments) == 1:
        return arguments[0]
    found = _aligned(arguments)
    return None if found is None else decimal(min(found[0] + 1, WIDEST), found[1])


def _remainder(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    found = _aligned(arguments)
    if found is None:
        return None
    return decimal(*found) if found[0] <= WIDEST else _DOUBLE


def _aligned(arguments: tuple[Type, ...]) -> tuple[int, int] | None:
    """Return the width and scale that hold the digits of all."""
    both = _decimals(arguments)
    if both is None:
        return None
    scale = max(one.numbers[1] for one in both)
    whole = max(one.numbers[0] - one.numbers[1] for one in both)
    return max(whole + scale, *(one.numbers[0] for one in both)), scale


def _product(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    both = _decimals(arguments)
    if both is None:
        return None
    width, scale = (sum(one.numbers[i] for one in both) for i in (0, 1))
    if scale > WIDEST:
        return None
    # Where both factors are 64 bits wide the product is too, if its scale allows it.
    short = all(one.numbers[0] <= _WIDEST_OF_64_BITS for one in both) and scale < _WIDEST_OF_64_BITS
    return decimal(min(width, _WIDEST_OF_64_BITS if short else WIDEST), scale)


def _decimals(arguments: tuple[Type, ...]) -> list[Type] | None:
    found = [as_decimal(one) for one in arguments]
    both = [one for one in found if one is not None]
    return both if len(both) == len(found) else None


def _total(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return decimal(WIDEST, arguments[0].numbers[1]) if arguments[0].name == "DECIMAL" else None


def _mean(_: Signature, __: tuple[Type, ...]) -> Type | None:
    return _DOUBLE


def _histogram(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return map_of(settled(arguments[0]), plain("UBIGINT")) if len(arguments) == 1 else None


def _row(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return tuple_of(tuple(map(settled, arguments))) if arguments else None


def _best(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return common(arguments)


def _joined_lists(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    if not arguments or any(one.name not in _LISTS for one in arguments):
        return None
    child = common([one.children[0] for one in arguments])
    return None if child is None else list_of(child)


def _joined(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return _joined_lists(signature, arguments) if any(one.name in _LISTS for one in arguments) else _TEXT


def _joined_bytes(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return arguments[0] if all(one.name == "BLOB" for one in arguments) else _joined(signature, arguments)


def _array(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    child = common([settled(one) for one in arguments])
    return None if child is None else array_of(child, len(arguments))


def _zipped(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    if any(one.name not in _LISTS for one in arguments):
        return None
    return list_of(tuple_of(tuple(one.children[0] for one in arguments)))


def _members(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return tuple_of(arguments[0].children) if arguments[0].name == "STRUCT" else None


def _same_list(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    return list_of(arguments[0].children[0]) if arguments[0].name in _LISTS else None


def _slice(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    own = settled(arguments[0])
    if not all(one.name in INTEGERS or one.name == "INTEGER_LITERAL" for one in arguments[1:]):
        return None
    if own.name == "VARCHAR":
        return own if len(arguments) == _ENDS + 1 else None
    return list_of(own.children[0]) if own.name in _LISTS else None


def _middle(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of a value between two of a type."""
    own = settled(arguments[0])
    if own == NULL or own.name in WIDTHS:
        return _DOUBLE
    return plain("TIMESTAMP") if own.name == "DATE" else own


def _chosen(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of a discrete quantile, or a list of it for several shares."""
    several = len(arguments) > 1 and arguments[1].name == "LIST"
    return list_of(settled(arguments[0])) if several else _first(signature, arguments)


def _values(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of an ENUM's values, as the signature says; the engine refuses other types."""
    fits = any(one.name == "ENUM" for one in arguments) and all(one == NULL or one.name == "ENUM" for one in arguments)
    return signature.result if fits else None


def _code(_: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of the place of a value in its ENUM: the smallest integer that holds their number."""
    count = len(arguments[0].names)
    small = "UTINYINT" if count < _BYTE else "USMALLINT" if count < _WORD else "UINTEGER"
    return plain(small) if arguments[0].name == "ENUM" else None


def _named(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


def _between(signature: Signature, arguments: tuple[Type, ...]) -> Type | None:
    """Return the type of a value between two of the type that the argument is cast to."""
    parameter = signature.parameter(0)
    found = _middle(signature, arguments if parameter.name == "DECIMAL" else (parameter,))
    return list_of(found) if found is not None and arguments[1].name == "LIST" else found


_ORDERED = "arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin max_by min_by"

_ENUMS = "enum_first enum_last enum_range enum_range_boundary"

RESULTS: Mapping[str, Rule] = {
    **_named(_first, "any_value arbitrary first last min max mode first_value last_value nth_value abs @ approx_top_k"),
    **_named(_first, _ORDERED),
    **_named(_first, "approx_quantile mad"),
    **_named(_chosen, "quantile quantile_disc"),
    "combine_aggr": _state,
    "quantile_cont": _between,
    **_named(_whole, "ceil ceiling floor round round_even roundbankers trunc"),
    **_named(_sum_of_two, "+ - add subtract"),
    **_named(_remainder, "% mod"),
    **_named(_product, "* multiply"),
    **_named(_total, "sum sum_no_overflow"),
    **_named(_mean, "avg mean"),
    **_named(_best, "greatest least"),
    **_named(_joined_lists, "list_concat list_cat array_concat array_cat"),
    **_named(_same_list, "list_sort array_sort list_reverse_sort array_reverse_sort list_resize array_resize"),
    **_named(_zipped, "list_zip array_zip"),
    **_named(_slice, "array_slice list_slice"),
    **_named(_values, _ENUMS),
    "enum_code": _code,
    "array_value": _array,
    "concat": _joined,
    "histogram": _histogram,
    "median": _middle,
    "row": _row,
    "struct_values": _members,
    "||": _joined_bytes,
}
"""Rules of results, by name."""
ALWAYS = frozenset(("quantile_cont", "enum_code", *_ORDERED.split(), *_ENUMS.split()))
"""Functions whose signatures have a wrong result; for others `RESULTS` is used only where signatures have none."""

_CONSTANTS = {
    1: """
    strptime try_strptime listagg string_agg group_concat quantile quantile_cont quantile_disc approx_quantile
    bitstring_agg list_sort array_sort list_reverse_sort array_reverse_sort list_grade_up
    array_grade_up grade_up approx_top_k
    """,
    2: """
    regexp_matches regexp_full_match string_split_regex str_split_regex regexp_split_to_array regexp_extract
    regexp_extract_all lttb
    """,
    3: "regexp_replace",
}
_CONSTANT_FROM = {name: first for first, names in _CONSTANTS.items() for name in names.split()}
"""From which argument on they must be constants."""
_SHARES = ("quantile", "quantile_cont", "quantile_disc", "approx_quantile")
"""Aggregates whose second argument is from 0 to 1."""
_LONE = ("to_json", "json_quote")
"""Functions that take one argument, of any type, though their signature takes several."""
_OF_FEW_TYPES = """
vertex_extract can_cast_implicitly decimal_division is_histogram_other_bin replace_type
constant_or_null create_sort_key
normalized_interval remap_struct st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_geomfromgeojson
st_geomfromwkb st_intersects_extent union_extract union_tag union_value variant_array_length variant_contains
variant_exists variant_extract variant_extract_string variant_keys variant_normalize variant_type variant_typeof
histogram_exact json_group_structure variant_group_array variant_group_object
"""
_UNSURE = frozenset(("switch", "fill", "lttb", "reservoir_quantile", *_OF_FEW_TYPES.split()))
"""Functions that refuse values or types of arguments that their signature takes."""
_OF_NESTED = {
    "array_to_json": ("LIST",),
    "cardinality": ("LIST", "ARRAY", "MAP"),
    "row_to_json": ("STRUCT",),
    "struct_keys": ("STRUCT",),
}
"""Functions that take one argument of these types, though their signature takes more."""
_MOST_GROUPS = 9
"""The highest number of a group in a regular expression."""
_PARTS = ("date_part", "datepart")
"""Functions that return another type for some parts, as for `'epoch'`, if the part is a literal."""


_READERS = """
regexp_matches regexp_full_match regexp_replace regexp_extract regexp_extract_all regexp_split_to_array
string_split_regex str_split_regex strftime strptime try_strptime date_trunc datetrunc json_array_length json_exists
json_extract json_extract_path json_extract_path_text json_extract_string json_keys json_type json_value
list_sort array_sort list_reverse_sort array_reverse_sort list_grade_up array_grade_up grade_up
"""
_READ_WHEN_BOUND = frozenset(_READERS.split())
"""Functions that read literal texts when bound: patterns, formats, paths, names of parts and of orders."""


def reads_text(name: str, arguments: Sequence[Type]) -> bool:
    """Return whether the engine reads a text of a call when it binds it, and refuses one that is wrong."""
    return name in _READ_WHEN_BOUND and any(one.name == "STRING_LITERAL" for one in arguments)


def doubtful(name: str, signature: Signature, arguments: tuple[Type, ...]) -> bool:
    """Return whether the engine may refuse arguments that fit the signature, for example if it requires constants."""
    texts = [i for i, one in enumerate(arguments) if one.name == "STRING_LITERAL"]
    shared = name not in _SHARES or (len(arguments) > 1 and _is_share(arguments[1]))
    constant = all(_is_literal(one) for one in arguments[_CONSTANT_FROM.get(name, len(arguments)) :])
    of_lists = name.startswith("json_") and any(one.name == "LIST" for one in signature.parameters)
    if name in _UNSURE or of_lists or not (shared and constant):
        return True
    if (name == "strftime" and not texts) or (name in _PARTS and texts):
        return True
    if not all(_goes(*pair) for pair in zip(signature.parameters, arguments, strict=False)):
        return True
    return _misfit(name, arguments) or not all(_is_text(signature.parameter(i)) for i in texts)


def _is_literal(one: Type) -> bool:
    return one.name in _LITERALS or one == _SHARE_LIST


def _is_share(one: Type) -> bool:
    return one.name == "DOUBLE_LITERAL" or one.numbers in ((0,), (1,)) or one == _SHARE_LIST


def _goes(parameter: Type, argument: Type) -> bool:
    """Return whether the engine takes an argument: not all structs, and of vectors those that it calculates with."""
    if parameter.name in STRUCTS and not parameter.children:
        return argument.name == parameter.name
    return parameter.name != "ARRAY" or (argument.name == "ARRAY" and argument.children[0].name in ("FLOAT", "DOUBLE"))


def _misfit(name: str, arguments: tuple[Type, ...]) -> bool:
    """Return whether a function refuses the number or types of arguments, regardless of its signature."""
    if name == "json_object":
        return len(arguments) % 2 == 1 or any(settled(key).name != "VARCHAR" for key in arguments[::2])
    if name.startswith("regexp_extract"):
        return any(one.numbers and not 0 <= one.numbers[0] <= _MOST_GROUPS for one in arguments[2:])
    if name == "concat_ws":
        return any(child.name in _LISTS for one in arguments for child in one.children)
    kinds = _OF_NESTED.get(name)
    if name in _LONE or kinds is not None:
        return len(arguments) != 1 or (kinds is not None and arguments[0].name not in kinds)
    return False


def _is_text(parameter: Type) -> bool:
    """Return whether a parameter takes any text: others are read from it when the call is bound."""
    return parameter.name in ("VARCHAR", "ANY", *TEMPLATES)


def null_result_is_known(name: str, signature: Signature) -> bool:
    """Return whether the result of a call with a bare NULL is known: most scalar functions are not even called then."""
    if name in _OF_NULL.split():
        return True
    return all(_simple(one) for one in (*signature.parameters, *filter(None, (signature.more, signature.result))))


def stays_null(name: str, signature: Signature) -> bool:
    """Return whether the result of a call with a bare NULL, which is not known otherwise, has no type either."""
    return name == "||" or (name in ("+", "-", "*", "%") and any(one.name == "DECIMAL" for one in signature.parameters))


_OF_NULL = """
any_value arbitrary first last min max mode first_value last_value nth_value lag lead list array_agg median list_value
list_pack list_contains list_has array_contains array_has greatest least concat
row histogram arg_max arg_min argmax argmin max_by min_by to_json
"""


def _simple(one: Type) -> bool:
    return not one.children and one.name not in (
        "ANY",
        "DECIMAL",
        *TEMPLATES,
        "STRUCT",
        "TUPLE",
        "UNION",
        "MAP",
        "LIST",
    )
