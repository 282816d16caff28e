"""Compile field classes into the decoder's program: numbered nodes, and slots that store values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.readers.ctf_metadata.classes import (
    Array,
    FieldClass,
    FieldPath,
    Float,
    Integer,
    MetadataError,
    Optional,
    StructField,
    TextField,
    Variant,
    alignment,
)
from dctv.record import field, record

NONE = (1 << 64) - 1
"""The absence of a node, column, slot or length."""
MOST_NODES = 1 << 20
"""The maximum number of nodes in a trace's program: aliases of structures of aliases grow exponentially."""

_WORD = 1 << 64
_ROLES = {
    "packet-magic-number": 1,
    "metadata-stream-uuid": 2,
    "data-stream-class-id": 3,
    "data-stream-id": 4,
    "packet-total-length": 5,
    "packet-content-length": 6,
    "packet-sequence-number": 7,
    "discarded-event-record-counter-snapshot": 8,
    "packet-end-default-clock-timestamp": 9,
    "event-record-class-id": 10,
    "cpu-id": 11,
    "default-clock-timestamp": 12,
}
CAPTURE = 13
"""The role of a text that is captured in addition to its column."""
_ENCODINGS = {"utf-8": 0, "utf-16le": 1, "utf-16be": 2, "utf-32le": 3, "utf-32be": 4}
_SLOT, _ROLE = 1, 2

Node = tuple[str, list[int], list[int], list[str]]
"""Kind of node, numbers, the numbers of its parts, names.

The numbers begin with its column in the scope, the slot that stores its value, its role, and its
alignment."""


@record
class FieldLeaf:
    """A field with a column of its own."""

    name: str
    kind: str
    """A key of `described.TYPES`."""
    node: int


@record(frozen=False)
class FieldScope:
    """The fields of one top-level structure, and the targets of paths in it."""

    root: int = NONE
    leaves: list[FieldLeaf] = field(default_factory=list)


class Program:
    """The nodes of all traces of a mount."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.slots: int = 0
        self._parts: dict[int, dict[str, int]] = {}
        """The parts of structures and variants by name."""
        self._frames: list[int] = []
        self._arrays: set[int] = set()
        """The arrays whose element is being added: paths in it lead through them."""
        self._leaves: list[FieldLeaf] | None = None
        self._scopes: dict[str, int] = {}

    def scope(self, name: str, what: StructField | None) -> FieldScope:
        """Add a structure; paths may refer to earlier ones, until `forget`."""
        made = FieldScope()
        self._scopes.pop(name, None)
        if what is not None:
            self._leaves = made.leaves
            made.root = self._next_number()
            self._scopes[name] = made.root
            self._add(what, "")
        return made

    def forget(self, *names: str) -> None:
        """Remove scopes from the targets of paths."""
        for name in names:
            self._scopes.pop(name, None)

    def slot_of(self, node: int) -> int:
        """Return the slot that stores an integer node's value; assign one on first use."""
        numbers = self.nodes[node][1]
        if numbers[_SLOT] == NONE:
            numbers[_SLOT] = self.slots
            self.slots += 1
        return numbers[_SLOT]

    def capture(self, node: int) -> None:
        """Capture a text in addition to its column."""
        self.nodes[node][1][_ROLE] = CAPTURE

    def _next_number(self) -> int:
        if len(self.nodes) >= MOST_NODES:
            raise MetadataError(f"the metadata declare more than {MOST_NODES} fields")
        return len(self.nodes)

    def _node(
        self, what: str, numbers: Sequence[int], *, name: str = "", kind: str = "", role: int = 0, align: int
    ) -> int:
        """Add a node; with a kind it gets a column, where columns are made."""
        place = self._next_number()
        out = NONE
        if kind and self._leaves is not None and not role:
            out = len(self._leaves)
            self._leaves.append(FieldLeaf(name, kind, place))
        self.nodes.append((what, [out, NONE, role, align, *numbers], [], []))
        return place

    def _add(self, what: FieldClass, name: str) -> int:
        """Add a field with its parts; its column is called `name`."""
        match what:
            case Integer():
                node = self._integer(what, name)
            case Float():
                node = self._node("float", [what.size, what.little], name=name, kind="float", align=what.align)
            case TextField():
                node = self._text(what, name)
            case StructField():
                node = self._struct(what, name)
            case Array():
                node = self._array(what, name)
            case Variant():
                node = self._variant(what, name)
            case Optional():
                node = self._optional(what, name)
        return node

    def _integer(self, what: Integer, name: str) -> int:
        kind = "int" if what.signed or 0 < what.size < 64 else "uint"
        if what.kind == "bool":
            kind = "bool"
        elif what.labels or what.kind == "flags":
            kind = "text"
        form = {"bool": "bool", "flags": "flags"}.get(what.kind, "int" if what.size else "var")
        numbers = [what.size, what.signed, what.little, what.reverse]
        node = self._node(form, numbers, name=name, kind=kind, role=_role(what.roles), align=what.align)
        for label, first, last in what.labels:
            self.nodes[node][1].extend((first % _WORD, last % _WORD))
            self.nodes[node][3].append(label)
        return node

    def _text(self, what: TextField, name: str) -> int:
        length, slot = self._length(what.length, name)
        numbers = [length, slot, what.length is not None, _ENCODINGS[what.encoding], what.blob]
        return self._node("text", numbers, name=name, kind="text", role=_role(what.roles), align=8)

    def _struct(self, what: StructField, name: str) -> int:
        node = self._node("struct", [], align=alignment(what))
        self._parts[node] = parts = {}
        self._frames.append(node)
        for member, shown, one in what.members:
            # Before its own parts, since paths in them may begin further out and lead through it.
            parts[member] = self._next_number()
            self.nodes[node][3].append(shown)
            self._add_part(node, one, f"{name}_{shown}" if name else shown)
        self._frames.pop()
        return node

    def _array(self, what: Array, name: str) -> int:
        length, slot = self._length(what.length, name)
        element = what.element
        text = isinstance(element, Integer) and element.character and element.size == 8 and not element.labels
        kind = "text" if text else "json"
        node = self._node("array", [length, slot, text], name=name, kind=kind, align=alignment(what))
        outer, self._leaves = self._leaves, None
        self._arrays.add(node)
        self._add_part(node, element, name)
        self._arrays.discard(node)
        self._leaves = outer
        return node

    def _variant(self, what: Variant, name: str) -> int:
        if what.selector is None:
            raise MetadataError(f"the variant `{name}` has no selector")
        targets = self._targets(what.selector, f"the selector of the variant `{name}`")
        labels = {
            label: (first, last)
            for target in targets
            for label, first, last in zip(self.nodes[target][3], *_pairs(self.nodes[target][1][8:]), strict=True)
        }
        node = self._node("variant", [self._share(targets)], align=1)
        self._parts[node] = parts = {}
        for option, one, ranges in what.options:
            chosen = ranges if ranges is not None else _labelled(option, labels)
            if chosen is None:
                raise MetadataError(f"the option `{option}` of `{name}` matches no label of `{what.selector}`")
            plain = option[1:] if ranges is None and option.startswith("_") else option
            parts[option] = self._next_number()
            numbers = self.nodes[node][1]
            numbers.append(len(chosen))
            numbers.extend(edge % _WORD for pair in chosen for edge in pair)
            self.nodes[node][3].append(plain)
            self._add_part(node, one, f"{name}_{plain}")
        return node

    def _optional(self, what: Optional, name: str) -> int:
        slot = self._share(self._targets(what.selector, f"the presence of `{name}`"))
        node = self._node("optional", [slot, *(edge % _WORD for pair in what.ranges for edge in pair)], align=1)
        self._parts[node] = {"": self._next_number()}
        self._add_part(node, what.element, name)
        return node

    def _add_part(self, node: int, what: FieldClass, name: str) -> None:
        """Add a part of a field, whose node comes first of all that the part has."""
        self.nodes[node][2].append(self._next_number())
        self._add(what, name)

    def _length(self, length: int | FieldPath | None, name: str) -> tuple[int, int]:
        """Return a fixed length and the slot of a dynamic one; one of them is `NONE`."""
        if length is None or isinstance(length, int):
            return (NONE if length is None else length, NONE)
        targets = self._targets(length, f"the length of `{name}`")
        if any(self.nodes[target][1][5] for target in targets):
            raise MetadataError(f"the length of `{name}` is in the field `{length}`, which is signed")
        return NONE, self._share(targets)

    def _share(self, targets: Sequence[int]) -> int:
        """Return the slot that stores the most recently decoded of several integers."""
        taken = {self.nodes[target][1][_SLOT] for target in targets} - {NONE}
        if len(taken) > 1:
            raise MetadataError("a length or selector refers to fields that are lengths or selectors themselves")
        slot = taken.pop() if taken else self.slot_of(targets[0])
        for target in targets:
            self.nodes[target][1][_SLOT] = slot
        return slot

    def _targets(self, path: FieldPath, purpose: str) -> list[int]:
        """Return the integer nodes that a path refers to; several if it goes through a variant."""
        outwards, names = _direct(path)
        for start in self._starts(path, outwards):
            found = list(self._walk([start], names))
            if found:
                if all(self.nodes[one][0] in {"int", "var", "bool"} for one in found):
                    return found
                raise MetadataError(f"{purpose} is in the field `{path}`, which is not an integer")
        raise MetadataError(f"{purpose} is in the field `{path}`, but there is no such field before it")

    def _starts(self, path: FieldPath, outwards: int) -> Iterator[int]:
        """Yield the structures in which a path may start."""
        if path.scope:
            if path.scope in self._scopes:
                yield self._scopes[path.scope]
            return
        yield from reversed(self._frames[: len(self._frames) - outwards])
        yield from reversed(self._scopes.values())

    def _walk(self, nodes: Sequence[int], names: Sequence[str]) -> Iterator[int]:
        for node in nodes:
            if node >= len(self.nodes):
                continue  # the field that has this path
            form, _, kids, _ = self.nodes[node]
            through = form == "variant" and names and names[0] not in self._parts[node]
            if through or form == "optional" or node in self._arrays:
                yield from self._walk(kids, names)
            elif not names:
                yield node
            elif names[0] in self._parts.get(node, {}):
                yield from self._walk([self._parts[node][names[0]]], names[1:])


def _direct(path: FieldPath) -> tuple[int, list[str]]:
    """Return how many structures a path first goes outwards, and the names that then lead inwards."""
    outwards, names = 0, list[str]()
    for name in path.names:
        if name is not None:
            names.append(name)
        elif names:
            names.pop()
        else:
            outwards += 1
    return outwards, names


def _role(roles: tuple[str, ...]) -> int:
    return max((_ROLES.get(role, 0) for role in roles), default=0)


def _pairs(edges: Sequence[int]) -> tuple[list[int], list[int]]:
    return list(edges[::2]), list(edges[1::2])


def _labelled(option: str, labels: dict[str, tuple[int, int]]) -> list[tuple[int, int]] | None:
    """Return the values labelled with an option's name, with or without a leading underscore."""
    for name in (option, option.removeprefix("_"), f"_{option}"):
        found = [pair for label, pair in labels.items() if name in label.split("|")]
        if found:
            return found
    return None
