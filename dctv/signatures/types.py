"""Types as the engine writes them -> records, and back."""

from __future__ import annotations

from functools import cache

from dctv.patterns import pattern
from dctv.record import field, record

LITERALS = ("INTEGER_LITERAL", "STRING_LITERAL")
"""Types of literals, which fit several types: the first with the literal's value in parentheses."""
_ANY_LENGTH = -1


@record
class Type:
    """A type, equal to others of the same text; `parse` makes it."""

    text: str
    """How the engine's DESCRIBE writes it."""
    name: str = field(compare=False)
    """`BIGINT`, `DECIMAL`, `INTEGER_LITERAL`; `LIST`, `ARRAY`, `STRUCT`, `TUPLE`, `MAP`, `UNION`, `ENUM` of others."""
    children: tuple[Type, ...] = field(default=(), compare=False)
    """Types of elements; of members; of key and value."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """Names of the members of a STRUCT or UNION."""
    numbers: tuple[int, ...] = field(default=(), compare=False)
    """Width and scale of a DECIMAL, length of an ARRAY (-1: any), value of an integer literal."""

    def __str__(self) -> str:
        return self.text


@cache
def parse(text: str) -> Type:
    """Return the type of a text.

    Raises:
        ValueError: it is none.
    """
    reader = _Reader(text)
    found = reader.type()
    if reader.position != len(reader.tokens):
        raise ValueError(f"found the type `{text}`, which goes on after `{found}`")
    return found


@cache
def plain(name: str) -> Type:
    """Return a type without children."""
    return Type(name, name)


@cache
def list_of(child: Type) -> Type:
    """Return the type of lists."""
    return Type(f"{child}[]", "LIST", (child,))


@cache
def array_of(child: Type, length: int) -> Type:
    """Return the type of arrays of a length, -1 for any."""
    return Type(f"{child}[{'ANY' if length == _ANY_LENGTH else length}]", "ARRAY", (child,), (), (length,))


@cache
def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type(f"MAP({key}, {value})", "MAP", (key, value))


@cache
def decimal(width: int, scale: int) -> Type:
    """Return the type of decimal numbers."""
    return Type(f"DECIMAL({width},{scale})", "DECIMAL", (), (), (width, scale))


@cache
def integer_literal(value: int) -> Type:
    """Return the type of an integer literal."""
    return Type(f"INTEGER_LITERAL({value})", "INTEGER_LITERAL", (), (), (value,))


def tuple_of(children: tuple[Type, ...]) -> Type:
    """Return the type of structs whose members have no names."""
    return Type(f"TUPLE({', '.join(map(str, children))})", "TUPLE", children)


def union_of(names: tuple[str, ...], children: tuple[Type, ...], quoted: tuple[str, ...]) -> Type:
    """Return the type of values that are one of several."""
    return Type(f"UNION({_members(quoted, children)})", "UNION", children, names)


def struct_of(names: tuple[str, ...], children: tuple[Type, ...], quoted: tuple[str, ...]) -> Type:
    """Return the type of structs; `quoted` are the names as the engine writes them."""
    return Type(f"STRUCT({_members(quoted, children)})", "STRUCT", children, names)


def _members(quoted: tuple[str, ...], children: tuple[Type, ...]) -> str:
    return ", ".join(f"{name} {child}" for name, child in zip(quoted, children, strict=True))


_TOKEN = pattern(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|-?\w+|[()\[\],])""")
_ENDS = frozenset("()[],")


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        self.position = 0
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ValueError(f"found the type `{text}`, which is not understood from `{text[at:]}` on")
            self.tokens.append(found[1])
            at = found.end()

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self.position += 1
        return token

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self.position += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"found `{self._peek()}` in a type, expected `{token}`")

    def type(self) -> Type:
        """Read a type and the brackets after it."""
        found = self._head()
        while self._take("["):
            length = self._next()
            if length == "]":
                found = list_of(found)
                continue
            found = array_of(found, _ANY_LENGTH if length == "ANY" else int(length))
            self._expect("]")
        return found

    def _head(self) -> Type:
        words = [self._next()]
        if words[0] in _ENDS or not words[0]:
            raise ValueError(f"found `{words[0]}`, expected a type")
        while self._peek() and self._peek() not in _ENDS:
            words.append(self._next())
        name = " ".join(words)
        return self._arguments(name) if self._take("(") else plain(name)

    def _arguments(self, name: str) -> Type:
        if name in ("STRUCT", "UNION"):
            return self._named(name)
        if name in ("TUPLE", "MAP"):
            children = self._children()
            return tuple_of(children) if name == "TUPLE" else map_of(*children)
        values = self._values()
        if name == "INTEGER_LITERAL":
            return integer_literal(int(values[0]))
        if name == "DECIMAL":
            return decimal(int(values[0]), int(values[1]))
        return Type(f"{name}({', '.join(values)})", name)

    def _named(self, name: str) -> Type:
        quoted: list[str] = []
        children: list[Type] = []
        while not self._take(")"):
            quoted.append(self._next())
            children.append(self.type())
            self._take(",")
        names = tuple(_unquoted(one) for one in quoted)
        make = struct_of if name == "STRUCT" else union_of
        return make(names, tuple(children), tuple(quoted))

    def _children(self) -> tuple[Type, ...]:
        found: list[Type] = []
        while not self._take(")"):
            found.append(self.type())
            self._take(",")
        return tuple(found)

    def _values(self) -> list[str]:
        found: list[str] = []
        while not self._take(")"):
            token = self._next()
            if not token:
                raise ValueError("found a type that ends inside parentheses")
            if token != ",":
                found.append(token)
        return found


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
