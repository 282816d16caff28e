"""Convert values and literals to the texts of dictionaries and Bloom filters, and back."""

from __future__ import annotations

import struct
import zlib
from fractions import Fraction
from math import inf, isnan

from dctv.plan import predicate as p

Leaf = p.Compare | p.In | p.Prefix | p.IsNull
_RAW_LIMIT = 1 << 20
"""No dictionary that dctv writes is larger than this, in bytes."""


def literal_kind(leaf: Leaf) -> type | None:
    """Return the type of a condition's literals: text, Boolean or number; None if they differ."""
    match leaf:
        case p.Compare(_, _, value):
            return p.kind_of(value)
        case p.In(_, values, _):
            kinds = {p.kind_of(value) for value in values}
            return kinds.pop() if len(kinds) == 1 else str if not kinds else None
        case p.Prefix():
            return str
        case p.IsNull():
            return None


def canonical(value: p.Value) -> str | None:
    """Return the text of a literal in dictionaries and Bloom filters; None for a number that no value can have."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case Fraction():
            if value.denominator == 1:
                return str(value.numerator)
            near = value.numerator / value.denominator
            return repr(near) if Fraction(near) == value else None


def number_of(text: str) -> int | float | None:
    """Parse a number of a dictionary; NaN sorts above all others, as in the engine."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return None
    return inf if isnan(value) else value


def values_of(blob: bytes) -> list[str] | None:
    """Unpack a dictionary; None if it is damaged."""
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(blob, _RAW_LIMIT)
        if not unpacker.eof:
            return None
        (number,) = struct.unpack_from("<I", raw)
        values, place = [], 4
        for _ in range(number):
            (length,) = struct.unpack_from("<H", raw, place)
            place += 2 + length + 8
            values.append(raw[place - 8 - length : place - 8].decode())
        return values if place == len(raw) else None
    except (zlib.error, struct.error, UnicodeDecodeError):
        return None
