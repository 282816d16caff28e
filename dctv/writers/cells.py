"""Format values as the text that the readable formats print."""

from __future__ import annotations

import json
import re
import struct
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal

from dctv.patterns import pattern
from dctv.types.values import is_integer, is_string

NULL = "NULL"
"""How the readable formats print it; CSV leaves the field empty."""
_NO_NULL = f"'{NULL}'"
"""How they print a text that would look like it."""

_SINGLE = "FLOAT"
_UNSAFE_IN_JSON = pattern("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain(type_name: str) -> Callable[[object], str]:
    """Return the conversion of non-NULL values of a type to text; nested values become JSON."""
    return _single if type_name == _SINGLE else plain_text


def plain_text(value: object) -> str:
    """Return the text of a value of any type other than single-precision numbers."""
    convert = _TEXT_OF.get(type(value))
    return convert(value) if convert is not None else str(value)


def shortest(type_name: str, values: list[object]) -> list[object]:
    """Return a column in which single-precision numbers are the doubles with the fewest digits."""
    return [None if v is None else _shortest(v) for v in values] if type_name == _SINGLE else values


def shown(type_name: str) -> Callable[[object], str]:
    """Return a conversion of non-NULL values to text that cannot be mistaken for NULL."""
    make = plain(type_name)
    if not is_string(type_name):
        return make
    return lambda value: _NO_NULL if value == NULL else make(value)


def width(text: str) -> int:
    """Return how many terminal cells a visible text fills."""
    if text.isascii():
        return len(text)
    return sum(_cells(c) for c in text)


def json_text(value: object) -> str:
    """Write a value from `json_value` as compact JSON that is safe to show on a terminal."""
    return harmless_json(_ENCODER.encode(value))


def harmless_json(text: str) -> str:
    """Escape control characters of terminals in JSON."""
    return text if text.isascii() and "\x7f" not in text else _UNSAFE_IN_JSON.sub(_json_escape, text)


def json_cell(value: object) -> str:
    """Write a value as JSON: as `json_values` has it, and safe to show on a terminal."""
    return json_text(_json_value(value))


def json_values(type_name: str, values: list[object]) -> list[object]:
    """Turn a column into values that JSON can hold exactly.

    Integers stay exact; NaN and the infinities become the strings `NaN`, `Infinity` and `-Infinity`; bytes become
    base64; decimals with a fraction and every other type (dates, intervals) become strings.
    """
    if is_integer(type_name) or is_string(type_name):
        return values
    return [_json_value(v) for v in shortest(type_name, values)]


def _json_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _cells(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _float(value: object) -> str:
    assert isinstance(value, float)
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def _single(value: object) -> str:
    return _float(_shortest(value))


def _shortest(value: object) -> float:
    """Return the double with the fewest digits that is this single-precision number."""
    assert isinstance(value, float)
    if value - value != 0:
        return value
    for digits in range(6, 9):
        candidate = float(f"{value:.{digits}g}")
        if _to_single(candidate) == value:
            return candidate
    return float(f"{value:.9g}")


def _to_single(value: float) -> float:
    try:
        single: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf")
    return single


def _bool(value: object) -> str:
    return "true" if value else "false"


def _bytes(value: object) -> str:
    assert isinstance(value, bytes)
    return "".join(chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in value)


def _decimal(value: object) -> str:
    return f"{value:f}"


def _nested(value: object) -> str:
    return json_text(_json_value(value))


_TEXT_OF: dict[type, Callable[[object], str]] = {
    str: str,
    int: str,
    float: _float,
    bool: _bool,
    bytes: _bytes,
    Decimal: _decimal,
    list: _nested,
    tuple: _nested,
    dict: _nested,
}


def _json_value(value: object) -> object:
    convert = _JSON_OF.get(type(value))
    return convert(value) if convert is not None else str(value)


def _same(value: object) -> object:
    return value


def _json_float(value: object) -> object:
    assert isinstance(value, float)
    return value if value - value == 0 else _float(value)


def _json_bytes(value: object) -> object:
    assert isinstance(value, bytes)
    return b64encode(value).decode()


def _json_decimal(value: object) -> object:
    assert isinstance(value, Decimal)
    return int(value) if value.as_tuple().exponent == 0 else _decimal(value)


def _json_list(value: object) -> object:
    assert isinstance(value, list | tuple)
    return [_json_value(v) for v in value]


def _json_object(value: object) -> object:
    assert isinstance(value, dict)
    return {k if isinstance(k, str) else plain_text(k): _json_value(v) for k, v in value.items()}


_JSON_OF: dict[type, Callable[[object], object]] = {
    type(None): _same,
    bool: _same,
    int: _same,
    str: _same,
    float: _json_float,
    bytes: _json_bytes,
    Decimal: _json_decimal,
    list: _json_list,
    tuple: _json_list,
    dict: _json_object,
}
