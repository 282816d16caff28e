"""What the metadata of CTF traces say, whichever of two languages they are in: classes of fields, streams, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dctv.record import field, record

MOST_DEPTH = 48
"""How deep structures may be nested."""

MOST_FIELDS = 1 << 16
"""How many fields a structure may have, all in all."""

Labels = tuple[tuple[str, int, int], ...]
"""Names of ranges of values: name, first and last value."""

SCOPES = ("packet-header", "packet-context", "event-header", "common-context", "specific-context", "payload")


class MetadataError(ValueError):
    """Metadata that cannot be used, in words."""


@record
class FieldPath:
    """Where the field is that tells a length or a choice."""

    scope: str
    """One of `SCOPES`, or empty: looked for from the enclosing structure outwards."""
    names: tuple[str | None, ...]
    """None steps out of a structure."""

    def __str__(self) -> str:
        return ".".join(name or ".." for name in ((self.scope, *self.names) if self.scope else self.names))


@record
class Integer:
    """A whole number, a Boolean, or single bits."""

    size: int
    """In bits; 0 if the length varies with the value."""
    align: int
    signed: bool = False
    little: bool = True
    base: int = 10
    character: bool = False
    """Whether an array of these is text."""
    clock: str = ""
    """The name of the clock that it tells the time of."""
    labels: Labels = ()
    kind: str = "int"
    """`int`, `bool`, or `flags`: a bit map, whose labels name ranges of bits."""
    roles: tuple[str, ...] = ()
    reverse: bool = False
    """Whether its bits stand in the order opposite to that of its bytes."""


@record
class Float:
    """A number of IEEE 754."""

    size: int
    align: int
    little: bool = True


@record
class TextField:
    """Text that ends with a null character, or after a number of bytes."""

    encoding: str = "utf-8"
    length: int | FieldPath | None = None
    blob: bool = False
    """Whether it is bytes, not text."""
    roles: tuple[str, ...] = ()


@record
class StructField:
    """Fields one after the other: for each its name in paths, the name it is shown by, and its class."""

    members: tuple[tuple[str, str, FieldClass], ...]
    align: int = 1
    """That of its members too."""
    weight: int = 1
    """Of how many fields it is made, all in all."""


@record
class Array:
    """Fields of one class."""

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
    """A field that is there or not."""

    selector: FieldPath
    ranges: tuple[tuple[int, int], ...]
    """The values of the selector for which it is there."""
    element: FieldClass


FieldClass = Integer | Float | TextField | StructField | Array | Variant | Optional


@record
class CtfClock:
    """A clock that times are told in."""

    name: str
    frequency: int = 1_000_000_000
    offset_s: int = 0
    offset: int = 0
    """In cycles, besides `offset_s`."""
    unix: bool = False
    """Whether it counts from the beginning of 1970."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Description, precision, uuid."""


@record
class EventClass:
    """One kind of events."""

    number: int
    name: str
    context: StructField | None = None
    payload: StructField | None = None


@record(frozen=False)
class StreamClass:
    """One kind of streams."""

    number: int
    packet_context: StructField | None = None
    header: StructField | None = None
    context: StructField | None = None
    clock: str = ""
    """The name of its clock, if that is told."""
    events: dict[int, EventClass] = field(default_factory=dict)


@record(frozen=False)
class TraceClass:
    """All that the metadata of a trace say."""

    version: str
    uuid: bytes = b""
    header: StructField | None = None
    environment: dict[str, str | int] = field(default_factory=dict)
    clocks: dict[str, CtfClock] = field(default_factory=dict)
    streams: dict[int, StreamClass] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """What was not understood: reason, and an example for each time."""

    def note(self, reason: str, example: str) -> None:
        """Count something that was not understood."""
        self.notes.setdefault(reason, []).append(example)


def alignment(what: FieldClass) -> int:
    """Return on what multiple of bits a field begins."""
    match what:
        case Array():
            return max(what.align, alignment(what.element))
        case TextField():
            return 8
        case Variant() | Optional():
            return 1
    return what.align


def structure(members: Sequence[tuple[str, str, FieldClass]], align: int) -> StructField:
    """Make a structure.

    Raises:
        MetadataError: it is too large, or two fields have one name.
    """
    if len({name for name, _, _ in members}) < len(members):
        raise MetadataError("a structure has two fields of one name")
    classes = [one for _, _, one in members]
    return StructField(tuple(members), max([align, *map(alignment, classes)]), _weight(classes))


def variant(
    selector: FieldPath | None, options: Sequence[tuple[str, FieldClass, tuple[tuple[int, int], ...] | None]]
) -> Variant:
    """Make a variant.

    Raises:
        MetadataError: it is too large.
    """
    return Variant(selector, tuple(options), _weight([one for _, one, _ in options]))


def _weight(parts: Sequence[FieldClass]) -> int:
    """Return of how many fields something is made: aliases of structures of aliases grow without bound."""
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
    """Return ranges that do not overlap, in ascending order; where several names meet, all are named."""
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
