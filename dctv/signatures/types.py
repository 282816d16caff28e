"""Parse the engine's texts of types to records, and write them."""

from __future__ import annotations

from functools import lru_cache

from dctv.patterns import pattern
from dctv.record import field, record

STATE = "AGGREGATE_STATE"
_ANY_LENGTH = -1


@record
class Type:
    """A type, equal to others of the same text; `parse` makes it."""

    text: str
    """Its text in the engine's DESCRIBE.

    Literals have their own: `INTEGER_LITERAL(5)`, with its value, and `STRING_LITERAL` fit several types;
    `DOUBLE_LITERAL` is a DOUBLE that is valid where the engine wants a constant, and is in the range it wants there.
    """
    name: str = field(compare=False)
    """`BIGINT`, `DECIMAL`, `INTEGER_LITERAL`; `LIST`, `ARRAY`, `STRUCT`, `TUPLE`, `MAP`, `UNION`, `ENUM` of others.

    `AGGREGATE_STATE` is of a function, although the engine writes only this word (`signatures.states`).
    """
    children: tuple[Type, ...] = field(default=(), compare=False)
    """Types of elements; of members; of key and value; of a state's data, and its function's arguments."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """Names of members of a STRUCT or UNION, quoted as the engine does; values of an ENUM; a state's function, and its
    settings."""
    numbers: tuple[int, ...] = field(default=(), compare=False)
    """Width and scale of a DECIMAL, length of an ARRAY (-1: any), value of an integer literal."""

    def __str__(self) -> str:
        return self.text


@lru_cache(16384)
def parse(text: str) -> Type:
    """Return the type of a text.

    Raises:
        ValueError: it is not a type.
    """
    reader = _Reader(text)
    found = reader.type()
    if reader.position != len(reader.tokens):
        raise ValueError(f"found the type `{text}`, which goes on after `{found}`")
    return found


@lru_cache(16384)
def plain(name: str) -> Type:
    """Return a type without children."""
    return Type(name, name)


@lru_cache(16384)
def list_of(child: Type) -> Type:
    """Return the type of lists."""
    return Type(f"{child}[]", "LIST", (child,))


@lru_cache(16384)
def array_of(child: Type, length: int) -> Type:
    """Return the type of arrays of a length, -1 for any."""
    return Type(f"{child}[{'ANY' if length == _ANY_LENGTH else length}]", "ARRAY", (child,), (), (length,))


@lru_cache(16384)
def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type(f"MAP({key}, {value})", "MAP", (key, value))


@lru_cache(16384)
def decimal(width: int, scale: int) -> Type:
    """Return the type of decimal numbers."""
    return Type(f"DECIMAL({width},{scale})", "DECIMAL", (), (), (width, scale))


@lru_cache(16384)
def integer_literal(value: int) -> Type:
    """Return the type of an integer literal."""
    return Type(f"INTEGER_LITERAL({value})", "INTEGER_LITERAL", (), (), (value,))


def tuple_of(children: tuple[Type, ...]) -> Type:
    """Return the type of structs whose members have no names."""
    return Type(f"TUPLE({', '.join(map(str, children))})", "TUPLE", children)


def struct_of(names: tuple[str, ...], children: tuple[Type, ...]) -> Type:
    """Return the type of structs."""
    return Type(f"STRUCT({_members(names, children)})", "STRUCT", children, names)


def with_children(one: Type, children: tuple[Type, ...]) -> Type:
    """Return a type like another, with other children: of lists, arrays, maps and structs."""
    match one.name:
        case "LIST":
            return list_of(*children)
        case "ARRAY":
            return array_of(*children, *one.numbers)
        case "MAP":
            return map_of(*children)
        case "STRUCT":
            return struct_of(one.names, children)
        case _:
            return one


def state_of(function: str, children: tuple[Type, ...], settings: str) -> Type:
    """Return the type of an aggregate's states; `children` are the type of their data, then those of the arguments."""
    quoted = settings.replace("'", "''")
    more = f", '{quoted}'" if settings else ""
    text = f"{STATE}({function}, {', '.join(map(str, children))}{more})"
    return Type(text, STATE, children, (function, settings))


def member(struct: Type, name: str) -> Type | None:
    """Return the type of a struct's or union's member, by its name in any case."""
    found = [child for own, child in zip(struct.names, struct.children, strict=False) if _same(own, name)]
    return found[0] if struct.name in ("STRUCT", "UNION") and len(found) == 1 else None


def _same(written: str, name: str) -> bool:
    return unquoted(written).lower() == name.lower()


def unquoted(name: str) -> str:
    """Return the name of a member without quotes."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def _members(names: tuple[str, ...], children: tuple[Type, ...]) -> str:
    return ", ".join(f"{name} {child}" for name, child in zip(names, children, strict=True))


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
        if name == STATE:
            return self._state()
        values = self._values()
        if name == "INTEGER_LITERAL":
            return integer_literal(int(values[0]))
        if name == "DECIMAL":
            return decimal(int(values[0]), int(values[1]))
        return Type(f"{name}({', '.join(values)})", name, (), tuple(values) if name == "ENUM" else ())

    def _named(self, name: str) -> Type:
        names: list[str] = []
        children: list[Type] = []
        while not self._take(")"):
            names.append(self._next())
            children.append(self.type())
            self._take(",")
        if name == "STRUCT":
            return struct_of(tuple(names), tuple(children))
        return Type(f"{name}({_members(tuple(names), tuple(children))})", name, tuple(children), tuple(names))

    def _state(self) -> Type:
        function, settings = self._next(), ""
        found: list[Type] = []
        while not self._take(")"):
            self._take(",")
            if self._peek().startswith("'"):
                settings = self._next()[1:-1].replace("''", "'")
            else:
                found.append(self.type())
        return state_of(function, tuple(found), settings)

    def _children(self) -> tuple[Type, ...]:
        found: list[Type] = []
        while not self._take(")"):
            found.append(self.type())
            self._take(",")
        return tuple(found)

    def _values(self) -> list[str]:
        found: list[str] = []
        while not self._take(")"):
            word = self._next()
            if not word:
                raise ValueError("found a type that ends inside parentheses")
            if word != ",":
                found.append(word)
        return found
