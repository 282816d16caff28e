"""Convert TSDL type declarations to field classes: aliases, structures, lengths and selectors by path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dctv.readers.ctf_metadata.classes import (
    MOST_DEPTH,
    Array,
    FieldClass,
    FieldPath,
    Float,
    Integer,
    MetadataError,
    StructField,
    TextField,
    TraceClass,
    Variant,
    disjoint,
    structure,
    variant,
)
from dctv.readers.ctf_metadata.tsdl import Form, parse_integer, unquoted

_BASES = {
    **dict.fromkeys(("decimal", "dec", "d", "i", "u", "10"), 10),
    **dict.fromkeys(("hexadecimal", "hex", "x", "X", "p", "16"), 16),
    **dict.fromkeys(("octal", "oct", "o", "8"), 8),
    **dict.fromkeys(("binary", "b", "2"), 2),
}
_ORDERS = {"le": True, "be": False, "network": False}
_SCOPES = {
    ("trace", "packet", "header"): "packet-header",
    ("stream", "packet", "context"): "packet-context",
    ("stream", "event", "header"): "event-header",
    ("stream", "event", "context"): "common-context",
    ("event", "context"): "specific-context",
    ("event", "fields"): "payload",
}

Value = tuple[str, Any]
"""The kind of a value, `number`, `text` or `path`, and the value."""


def value_of(what: Any) -> Value:
    """Return the value after `=`."""
    if isinstance(what, str):
        return ("text", unquoted(what))
    if what.data == "number":
        *signs, digits = what.children
        value = parse_integer(digits)
        return ("number", -value if sum(sign == "-" for sign in signs) % 2 else value)
    return ("path", ".".join(what.children))


def attributes(tree: Form) -> dict[str, Value]:
    """Return the assignments between braces."""
    return {
        ".".join(entry.children[0].children): value_of(entry.children[1])
        for entry in tree.children
        if not isinstance(entry, str) and entry.data == "assignment"
    }


def shown(name: str) -> str:
    """Return a field's name without the underscore that tracers prepend to avoid keywords."""
    return name[1:] if name.startswith("_") and len(name) > 1 else name


class Types:
    """The named types of a block, and of the blocks around it."""

    def __init__(self, trace: TraceClass, *, little: bool, around: tuple[dict[str, FieldClass], ...] = ()) -> None:
        self._trace = trace
        self._little = little
        self._known: dict[str, FieldClass] = {}
        self._scopes = (self._known, *around)

    def inner(self) -> Types:
        """Return a scope for a block in this one."""
        return Types(self._trace, little=self._little, around=self._scopes)

    def declare(self, tree: Form, depth: int = 0) -> bool:
        """Add a declaration; return False if the tree is something else."""
        if tree.data == "typealias":
            _, what, alias = tree.children
            words, pointers = alias.children
            self._known[_spelt(words, pointers)] = self.type_of(what, depth)
        elif tree.data == "typedef":
            _, what, declarators = tree.children
            self._known.update(self._declared(self.type_of(what, depth), declarators.children, depth))
        elif tree.data == "typedef_words":
            self._known.update(self._worded(tree.children[1:], depth))
        elif tree.data in _BUILT:
            self.type_of(tree, depth)
        else:
            return False
        return True

    def type_of(self, tree: Form, depth: int = 0) -> FieldClass:
        """Return the field class of a type.

        Raises:
            MetadataError: it is invalid or not supported.
        """
        if depth > MOST_DEPTH:
            raise MetadataError(f"types are nested more than {MOST_DEPTH} deep")
        if tree.data == "named":
            return self._find(_spelt(*tree.children))
        if tree.data not in _BUILT:
            raise MetadataError(f"`{tree.data}` is not a type")
        made: FieldClass = getattr(self, f"_{tree.data}")(tree, depth)
        return made

    def struct_of(self, tree: Form, what: str) -> StructField:
        """Return a structure, as required for headers, contexts and fields of events."""
        found = self.type_of(tree)
        if not isinstance(found, StructField):
            raise MetadataError(f"`{what}` must be a struct")
        return found

    def _find(self, name: str) -> FieldClass:
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        raise MetadataError(f"no type is called `{name}`")

    def _integer(self, tree: Form, _: int) -> Integer:
        given = attributes(tree)
        size = _number(given, "size", 0)
        if not 1 <= size <= 64:
            raise MetadataError(f"an integer has {size} bits, which must be 1 to 64")
        align = _align(_number(given, "align", 8 if size % 8 == 0 else 1))
        clock = _word(given, "map", "").removeprefix("clock.").removesuffix(".value")
        base = _word(given, "base", "10")
        self._warn(given, {"size", "align", "signed", "byte_order", "base", "encoding", "map"}, "integer")
        if base not in _BASES:
            raise MetadataError(f"unknown base `{base}` of an integer")
        return Integer(
            size=size,
            align=align,
            signed=_word(given, "signed", "false").lower() in {"true", "1"},
            little=self._order(given),
            base=_BASES[base],
            character=_word(given, "encoding", "none").upper() in {"UTF8", "UTF-8", "ASCII"},
            clock=clock,
        )

    def _floating(self, tree: Form, _: int) -> Float:
        given = attributes(tree)
        size = _number(given, "exp_dig", 0) + _number(given, "mant_dig", 0)
        if size not in {32, 64}:
            raise MetadataError(f"a floating-point number has {size} bits, which must be 32 or 64")
        self._warn(given, {"exp_dig", "mant_dig", "byte_order", "align"}, "floating_point")
        return Float(size, _align(_number(given, "align", 1)), self._order(given))

    def _string(self, tree: Form, _: int) -> TextField:
        self._warn(attributes(tree), {"encoding"}, "string")
        return TextField()

    def _struct(self, tree: Form, depth: int) -> FieldClass:
        names = self.inner()
        align = 1
        members: list[tuple[str, str, FieldClass]] = []
        for part in tree.children:
            if part == "struct" or part.data == "name":
                continue
            if part.data == "align":
                align = _align(parse_integer(part.children[-1]))
                continue
            members = [(name, shown(name), one) for name, one in names.members(part, depth + 1)]
        return self._named("struct", tree, structure(members, align))

    def _struct_named(self, tree: Form, _: int) -> FieldClass:
        return self._find(f"struct {tree.children[1].children[0]}")

    def _variant(self, tree: Form, depth: int) -> FieldClass:
        names = self.inner()
        selector = None
        options: tuple[tuple[str, FieldClass, None], ...] = ()
        for part in tree.children[1:]:
            if part.data == "tag":
                selector = _path(part.children[0])
            elif part.data == "body":
                options = tuple((name, one, None) for name, one in names.members(part, depth + 1))
        self._named("variant", tree, variant(None, options))
        return variant(selector, options)

    def _variant_named(self, tree: Form, _: int) -> FieldClass:
        name, *tag = tree.children[1:]
        found = self._find(f"variant {name.children[0]}")
        assert isinstance(found, Variant)
        return variant(_path(tag[0].children[0]), found.options) if tag else found

    def _enum(self, tree: Form, depth: int) -> FieldClass:
        base = next((part for part in tree.children[1:] if part.data == "base"), None)
        holder = self._find("int") if base is None else self.type_of(base.children[0], depth + 1)
        if not isinstance(holder, Integer):
            raise MetadataError("the base of an enum must be an integer")
        labels = disjoint(list(_labels(tree.children[-1])))
        made = Integer(
            holder.size, holder.align, holder.signed, holder.little, holder.base, clock=holder.clock, labels=labels
        )
        return self._named("enum", tree, made)

    def _enum_named(self, tree: Form, _: int) -> FieldClass:
        return self._find(f"enum {tree.children[1].children[0]}")

    def _named(self, kind: str, tree: Form, made: FieldClass) -> FieldClass:
        for part in tree.children[1:]:
            if part.data == "name":
                self._known[f"{kind} {part.children[0]}"] = made
        return made

    def members(self, body: Form, depth: int) -> Iterator[tuple[str, FieldClass]]:
        """Yield the fields that a body declares."""
        for tree in body.children:
            if tree.data == "fields":
                what, declarators = tree.children
                yield from self._declared(self.type_of(what, depth), declarators.children, depth)
            elif tree.data == "fields_words":
                yield from self._worded(tree.children, depth)
            else:
                self.declare(tree, depth)

    def _worded(self, parts: list[Any], depth: int) -> Iterator[tuple[str, FieldClass]]:
        """Yield the fields of a type of several words, whose last word may be the first field's name."""
        words = [str(word) for word in parts[0].children]
        first, *rest = parts[1:]
        if first.data == "pointer":
            yield from self._declared(self._find(f"{' '.join(words)} {'*' * len(first.children)}"), rest, depth)
            return
        if len(words) < 2:
            raise MetadataError(f"the field `{words[0]}` has no type")
        what = self._find(" ".join(words[:-1]))
        yield words[-1], _sized(what, first)
        yield from self._declared(what, rest, depth)

    def _declared(self, what: FieldClass, trees: list[Any], depth: int) -> Iterator[tuple[str, FieldClass]]:
        for tree in trees:
            if tree.data == "declarators":
                yield from self._declared(what, tree.children, depth)
            else:
                yield str(tree.children[0]), _sized(what, tree.children[1])

    def _order(self, given: dict[str, Value]) -> bool:
        order = _word(given, "byte_order", "native")
        if order != "native" and order not in _ORDERS:
            raise MetadataError(f"unknown byte order `{order}`")
        return _ORDERS.get(order, self._little)

    def _warn(self, given: dict[str, Value], allowed: set[str], where: str) -> None:
        for name in given.keys() - allowed:
            self._trace.note("unknown attribute in the metadata", f"`{name}` of {where}")


_BUILT = frozenset(
    {"integer", "floating", "string", "struct", "struct_named", "variant", "variant_named", "enum", "enum_named"}
)


def _spelt(words: Form, pointers: Form) -> str:
    """Return the name of a type of several words: `unsigned long`, `void *`."""
    name = " ".join(words.children)
    return f"{name} {'*' * len(pointers.children[0].children)}" if pointers.children else name


def _sized(what: FieldClass, dimensions: Form) -> FieldClass:
    for extent in reversed(dimensions.children):
        length = parse_integer(extent) if isinstance(extent, str) and extent[0].isdigit() else _path(extent)
        what = Array(what, length)
    return what


def _path(tree: Any) -> FieldPath:
    names = (str(tree),) if isinstance(tree, str) else tuple(str(part) for part in tree.children)
    for start, scope in _SCOPES.items():
        if names[: len(start)] == start and len(names) > len(start):
            return FieldPath(scope, names[len(start) :])
    return FieldPath("", names)


def _labels(tree: Form) -> Iterator[tuple[str, int, int]]:
    """Yield the labels of an enumeration; one without a value follows the previous one."""
    following = 0
    for one in tree.children:
        label, *values = one.children
        found = label.children[0]
        name = unquoted(found) if found[0] == '"' or found[:2] == 'L"' else str(found)
        numbers = [value_of(value)[1] for value in values] or [following]
        if numbers[-1] < numbers[0]:
            raise MetadataError(f"the range of the label `{name}` ends before it begins")
        following = numbers[-1] + 1
        yield name, numbers[0], numbers[-1]


def _number(given: dict[str, Value], name: str, default: int) -> int:
    kind, value = given.get(name, ("number", default))
    if kind != "number" or value < 0:
        raise MetadataError(f"`{name}` must be a number, not `{value}`")
    return int(value)


def _word(given: dict[str, Value], name: str, default: str) -> str:
    return str(given.get(name, ("path", default))[1])


def _align(value: int) -> int:
    if not 1 <= value <= 1 << 20 or value & (value - 1):
        raise MetadataError(f"an alignment must be a power of two, not {value}")
    return value
