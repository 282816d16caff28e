"""Parse field classes of CTF 2, in JSON, into those of the decoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dctv.readers.ctf_metadata.classes import (
    MOST_DEPTH,
    SCOPES,
    Array,
    FieldClass,
    FieldPath,
    Float,
    Integer,
    Labels,
    MetadataError,
    Optional,
    StructField,
    TextField,
    TraceClass,
    Variant,
    disjoint,
    structure,
    variant,
)
from dctv.record import replace

_SCOPES = {
    "packet-header": SCOPES[0],
    "packet-context": SCOPES[1],
    "event-record-header": SCOPES[2],
    "event-record-common-context": SCOPES[3],
    "event-record-specific-context": SCOPES[4],
    "event-record-payload": SCOPES[5],
}
_TIME = "default-clock-timestamp"
_ENCODINGS = {"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}
_TRUE = ((1, (1 << 64) - 1),)


def as_map(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object; it is optional."""
    found = given.get(key)
    if found is not None and not isinstance(found, dict):
        raise MetadataError(f"`{key}` must be an object")
    return found or {}


def number(given: Mapping[str, Any], key: str, default: int) -> int:
    """Return an integer; it is optional."""
    found = given.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int) or not -(1 << 63) <= found < 1 << 64:
        raise MetadataError(f"`{key}` must be a 64-bit integer, not `{str(found)[:40]}`")
    return found


def text_of(given: Mapping[str, Any], key: str, default: str) -> str:
    """Return a text; it is optional."""
    found = given.get(key, default)
    if not isinstance(found, str):
        raise MetadataError(f"`{key}` must be a text, not `{str(found)[:40]}`")
    return found


class Fields:
    """Parser of field classes, with their aliases."""

    def __init__(self, trace: TraceClass) -> None:
        self._trace = trace
        self._aliases: dict[str, FieldClass] = {}
        self.clock = ""
        """The clock of the stream that is being parsed."""

    def alias(self, name: str, what: Any) -> None:
        """Define an alias."""
        if not name or name in self._aliases:
            raise MetadataError(f"the alias `{name}` has no name, or the same name as another one")
        self._aliases[name] = self.field(what, 0)

    def struct(self, given: Mapping[str, Any], key: str) -> StructField | None:
        """Return a structure; it is optional."""
        what = given.get(key)
        if what is None:
            return None
        found = self.field(what, 0)
        if not isinstance(found, StructField):
            raise MetadataError(f"`{key}` must be a structure")
        return self._in_stream(found)

    def _in_stream(self, struct: StructField) -> StructField:
        """Return a structure with the stream's clock in its timestamps, since aliases do not know it."""
        return replace(struct, members=tuple((a, b, self._timed(one)) for a, b, one in struct.members))

    def _timed(self, what: FieldClass) -> FieldClass:
        if isinstance(what, Integer):
            return replace(what, clock=self.clock) if _TIME in what.roles else what
        if isinstance(what, StructField):
            return self._in_stream(what)
        if isinstance(what, Variant):
            return replace(what, options=tuple((a, self._timed(one), ranges) for a, one, ranges in what.options))
        if isinstance(what, Optional):
            return replace(what, element=self._timed(what.element))
        return what

    def field(self, what: Any, depth: int) -> FieldClass:
        """Return a field class from the name of an alias, or an object.

        Raises:
            MetadataError: it is invalid or not supported.
        """
        if depth > MOST_DEPTH:
            raise MetadataError(f"field classes are nested more than {MOST_DEPTH} deep")
        if isinstance(what, str):
            if what not in self._aliases:
                raise MetadataError(f"no field class is called `{what}`")
            return self._aliases[what]
        if not isinstance(what, dict):
            raise MetadataError("a field class must be an object or the name of one")
        kind = text_of(what, "type", "")
        forms: dict[str, Callable[[Mapping[str, Any], int], FieldClass]] = {
            "structure": self._structure,
            "static-length-array": self._array,
            "dynamic-length-array": self._array,
            "optional": self._optional,
            "variant": self._variant,
        }
        if kind in forms:
            return forms[kind](what, depth)
        if kind.startswith(("fixed-length-", "variable-length-")):
            return self._bits(kind, what)
        if kind.endswith(("-string", "-blob")):
            return self._text(kind, what)
        raise MetadataError(f"unknown type `{kind}` of a field class")

    def _bits(self, kind: str, what: Mapping[str, Any]) -> FieldClass:
        fixed, name = kind.startswith("fixed"), kind.partition("-length-")[2]
        size = number(what, "length", 0)
        if fixed and not 1 <= size <= 64:
            raise MetadataError(f"a field has {size} bits, which must be 1 to 64")
        little = _little(what) if fixed else True
        align = _align(number(what, "alignment", 1)) if fixed else 8
        reverse = fixed and "bit-order" in what and (what["bit-order"] == "first-to-last") != little
        if name == "floating-point-number":
            if size not in {32, 64} or reverse:
                raise MetadataError(
                    f"a floating-point number has {size} bits, which must be 32 or 64, in normal bit order"
                )
            return Float(size, align, little)
        kinds = {"boolean": "bool", "bit-map": "flags"}
        if name not in {
            *kinds,
            "bit-array",
            *(f"{s}{k}" for s in ("un", "") for k in ("signed-integer", "signed-enumeration")),
        }:
            raise MetadataError(f"unknown type `{kind}` of a field class")
        return Integer(
            size=size if fixed else 0,
            align=align,
            signed=name.startswith("signed"),
            little=little,
            base=number(what, "preferred-display-base", 10),
            labels=_labels(what, "flags" if name == "bit-map" else "mappings"),
            kind=kinds.get(name, "int"),
            roles=_roles(what),
            reverse=reverse,
        )

    def _text(self, kind: str, what: Mapping[str, Any]) -> TextField:
        encoding = text_of(what, "encoding", "utf-8").lower()
        if encoding not in _ENCODINGS:
            raise MetadataError(f"unknown encoding `{encoding}` of a text")
        length: int | FieldPath | None = None
        if kind.startswith("static"):
            length = number(what, "length", 0)
            if length < 0:
                raise MetadataError("a length must not be negative")
        elif kind.startswith("dynamic"):
            length = _location(what, "length-field-location")
        elif kind != "null-terminated-string":
            raise MetadataError(f"unknown type `{kind}` of a field class")
        return TextField(encoding, length, kind.endswith("blob"), _roles(what))

    def _structure(self, what: Mapping[str, Any], depth: int) -> StructField:
        members = []
        for member in what.get("member-classes") or ():
            if not isinstance(member, dict):
                raise MetadataError("a member of a structure must be an object")
            name = text_of(member, "name", "")
            members.append((name, name, self.field(member.get("field-class"), depth + 1)))
        return structure(members, _align(number(what, "minimum-alignment", 1)))

    def _array(self, what: Mapping[str, Any], depth: int) -> Array:
        element = self.field(what.get("element-field-class"), depth + 1)
        length: int | FieldPath = number(what, "length", 0)
        if what["type"] == "dynamic-length-array":
            length = _location(what, "length-field-location")
        elif number(what, "length", 0) < 0:
            raise MetadataError("a length must not be negative")
        return Array(element, length, _align(number(what, "minimum-alignment", 1)))

    def _optional(self, what: Mapping[str, Any], depth: int) -> Optional:
        element = self.field(what.get("field-class"), depth + 1)
        ranges = _ranges(what.get("selector-field-ranges")) or _TRUE
        return Optional(_location(what, "selector-field-location"), ranges, element)

    def _variant(self, what: Mapping[str, Any], depth: int) -> Variant:
        options = []
        for place, option in enumerate(what.get("options") or ()):
            if not isinstance(option, dict):
                raise MetadataError("an option of a variant must be an object")
            name = text_of(option, "name", str(place))
            ranges = _ranges(option.get("selector-field-ranges"))
            options.append((name, self.field(option.get("field-class"), depth + 1), ranges))
        return variant(_location(what, "selector-field-location"), options)


def _little(what: Mapping[str, Any]) -> bool:
    order = text_of(what, "byte-order", "")
    if order not in {"little-endian", "big-endian"}:
        raise MetadataError(f"a byte order must be `little-endian` or `big-endian`, not `{order[:40]}`")
    return order == "little-endian"


def _roles(what: Mapping[str, Any]) -> tuple[str, ...]:
    found = what.get("roles") or ()
    return tuple(sorted(str(role) for role in found))


def _ranges(given: Any) -> tuple[tuple[int, int], ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise MetadataError("ranges must be an array")
    found = []
    for one in given:
        pair = [one, one] if isinstance(one, int) else one
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(edge) is int for edge in pair):
            raise MetadataError("a range must be two integers")
        first, last = pair
        if not -(1 << 63) <= first <= last < 1 << 64:
            raise MetadataError(f"the range {first} to {last} is invalid")
        found.append((first, last))
    return tuple(found)


def _labels(what: Mapping[str, Any], key: str) -> Labels:
    given = as_map(what, key)
    found = [(str(name), first, last) for name, ranges in given.items() for first, last in _ranges(ranges)]
    # Of the bits of a map, any number are set, each with all of its names.
    return tuple(found) if key == "flags" else disjoint(found)


def _location(what: Mapping[str, Any], key: str) -> FieldPath:
    """Return the location of the field that holds a length or selector."""
    given = what.get(key)
    if isinstance(given, dict):
        origin, names = given.get("origin"), given.get("path")
    elif isinstance(given, list) and given and given[0] in _SCOPES:
        origin, names = given[0], given[1:]
    else:
        origin, names = None, given
    if (origin is not None and origin not in _SCOPES) or not isinstance(names, list) or not names:
        raise MetadataError(f"`{key}` must be a path to a field")
    if not all(name is None or isinstance(name, str) for name in names):
        raise MetadataError(f"`{key}` must be a path to a field")
    return FieldPath(_SCOPES[origin] if origin else "", tuple(names))


def _align(value: int) -> int:
    if not 1 <= value <= 1 << 20 or value & (value - 1):
        raise MetadataError(f"an alignment must be a power of two, not {value}")
    return value
