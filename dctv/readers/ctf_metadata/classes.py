"""The contents of CTF metadata, independent of its two languages: classes of fields, streams, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dctv.record import field, record

MOST_DEPTH = 48
"""The maximum nesting of structures."""

MOST_FIELDS = 1 << 16
"""The maximum number of fields in a structure, including nested ones."""

Labels = tuple[tuple[str, int, int], ...]
"""Names of ranges of values: name, first and last value."""

SCOPES = ("packet-header", "packet-context", "event-header", "common-context", "specific-context", "payload")


class MetadataError(ValueError):
    """Metadata that is invalid or not supported; the text says why."""


@record
class FieldPath:
    """The location of a field that holds a length or selector."""

    scope: str
    """One of `SCOPES`; if empty, the search goes from the enclosing structure outwards."""
    names: tuple[str | None, ...]
    """None goes up from a structure to the one around it."""

    def __str__(self) -> str:
        return ".".join(name or ".." for name in ((self.scope, *self.names) if self.scope else self.names))


@record
class Integer:
    """An integer, a Boolean, or a bit map."""

    size: int
    """In bits; 0 if the length varies with the value."""
    align: int
    signed: bool = False
    little: bool = True
    base: int = 10
    character: bool = False
    """Whether an array of these is text."""
    clock: str = ""
    """The name of the clock that it is a time of."""
    labels: Labels = ()
    kind: str = "int"
    """`int`, `bool`, or `flags`: a bit map, whose labels name ranges of bits."""
    roles: tuple[str, ...] = ()
    reverse: bool = False
    """Whether its bit order is the opposite of its byte order."""


@record
class Float:
    """An IEEE 754 number."""

    size: int
    align: int
    little: bool = True


@record
class TextField:
    """Text that is null-terminated, or has a length in bytes."""

    encoding: str = "utf-8"
    length: int | FieldPath | None = None
    blob: bool = False
    """Whether it is binary data."""
    roles: tuple[str, ...] = ()


@record
class StructField:
    """Fields in sequence: for each, its name in paths, the name that is shown, and its class."""

    members: tuple[tuple[str, str, FieldClass], ...]
    align: int = 1
    """Includes the alignment of its members."""
    weight: int = 1
    """The number of fields in it, including nested ones."""


@record
class Array:
    """Elements of one class."""

    element: FieldClass
    length: int | FieldPath
    align: int = 1


@record
class Variant:
    """One of several fields: for each its name, class, and the values of the selector (first, last)."""

    selector: FieldPath | None
    options: tuple[tuple[str, FieldClass, tuple[tuple[int, int], ...] | None], ...]
    weight: int = 1


@record
class Optional:
    """A field that may be absent."""

    selector: FieldPath
    ranges: tuple[tuple[int, int], ...]
    """The values of the selector for which it is present."""
    element: FieldClass


FieldClass = Integer | Float | TextField | StructField | Array | Variant | Optional


@record
class CtfClock:
    """A clock of timestamps."""

    name: str
    frequency: int = 1_000_000_000
    offset_s: int = 0
    offset: int = 0
    """In cycles, in addition to `offset_s`."""
    unix: bool = False
    """Whether its origin is the Unix epoch."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Description, precision, uuid."""


@record
class EventClass:
    """A class of events."""

    number: int
    name: str
    context: StructField | None = None
    payload: StructField | None = None


@record(frozen=False)
class StreamClass:
    """A class of streams."""

    number: int
    packet_context: StructField | None = None
    header: StructField | None = None
    context: StructField | None = None
    clock: str = ""
    """The name of its clock, if given."""
    events: dict[int, EventClass] = field(default_factory=dict)


@record(frozen=False)
class TraceClass:
    """The metadata of a trace."""

    version: str
    uuid: bytes = b""
    header: StructField | None = None
    environment: dict[str, str | int] = field(default_factory=dict)
    clocks: dict[str, CtfClock] = field(default_factory=dict)
    streams: dict[int, StreamClass] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Parts that were not understood: the reason, with an example for each occurrence."""

    def note(self, reason: str, example: str) -> None:
        """Count a part that was not understood."""
        self.notes.setdefault(reason, []).append(example)


def alignment(what: FieldClass) -> int:
    """Return the alignment of a field in bits."""
    match what:
        case Array():
            return max(what.align, alignment(what.element))
        case TextField():
            return 8
        case Variant() | Optional():
            return 1
    return what.align


def structure(members: Sequence[tuple[str, str, FieldClass]], align: int) -> StructField:
    """Create a structure.

    Raises:
        MetadataError: it is too large, or two fields have one name.
    """
    if len({name for name, _, _ in members}) < len(members):
        raise MetadataError("a structure has two fields with the same name")
    classes = [one for _, _, one in members]
    return StructField(tuple(members), max([align, *map(alignment, classes)]), _weight(classes))


def variant(
    selector: FieldPath | None, options: Sequence[tuple[str, FieldClass, tuple[tuple[int, int], ...] | None]]
) -> Variant:
    """Create a variant.

    Raises:
        MetadataError: it is too large.
    """
    return Variant(selector, tuple(options), _weight([one for _, one, _ in options]))


def _weight(parts: Sequence[FieldClass]) -> int:
    """Return the total number of fields: aliases of structures of aliases grow exponentially."""
    found = 1
    for one in parts:
        inner = one
        while isinstance(inner, Array | Optional):
            inner = inner.element
        found += inner.weight if isinstance(inner, StructField | Variant) else 1
    if found > MOST_FIELDS:
        raise MetadataError(f"a structure has more than {MOST_FIELDS} fields")
    return found


def disjoint(labels: Sequence[tuple[str, int, int]]) -> Labels:
    """Return disjoint ranges in ascending order; where labels overlap, the range has all of their names."""
    ordered = sorted(labels, key=lambda one: (one[1], one[2]))
    if all(a[2] < b[1] for a, b in pairwise(ordered)):
        return tuple(ordered)
    if len(ordered) > 4096:
        raise MetadataError(f"an enumeration with {len(ordered)} overlapping ranges is too large")
    edges = sorted({edge for _, first, last in ordered for edge in (first, last + 1)})
    found = []
    for first, end in pairwise(edges):
        names = dict.fromkeys(name for name, low, high in labels if low <= first and end - 1 <= high)
        if names:
            found.append(("|".join(names), first, end - 1))
    return tuple(found)
