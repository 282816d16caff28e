"""Convert columns of plain tables to their stored types and values."""

from __future__ import annotations

from dctv.patterns import pattern
from dctv.plan.build import call, case, negated
from dctv.plan.expressions import FALSE, Cast, Column, Expression
from dctv.readers.described import TYPES
from dctv.record import record, replace
from dctv.types.schema import TS

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_NESTED = ("STRUCT", "MAP", "UNION", "LIST", "JSON")
_EXACT = frozenset((
    "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "DECIMAL",
    "UUID",
))  # fmt: skip
"""Types that are stored as texts, which represent their values exactly."""
_IN_LISTS = _EXACT | _WHOLE | {"UBIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "VARCHAR"}
_IN_JSON = _IN_LISTS | {"HUGEINT", "UHUGEINT", "BLOB"}
"""Types of members whose values the engine's JSON represents exactly."""
_STRUCTURED = ("STRUCT(", "MAP(")
_CONTAINERS = ("STRUCT", "MAP", "LIST", "ARRAY")
_DIMENSIONS = pattern(r"(\[\d*\])+$")


@record
class PlainColumn:
    """A column of a table."""

    source: str
    shown: str
    engine: str
    unit: str = ""
    typed: bool = False
    """Whether it keeps the type that it has in the file."""

    @property
    def cast(self) -> str | None:
        """The type of its values, if they are stored as exact texts or JSON."""
        return self.engine if self.typed and (self._is_plain or _of_members(self.engine)) else None

    @property
    def _is_plain(self) -> bool:
        """Whether texts represent its values exactly: dates and the like, and lists of these."""
        inner = _DIMENSIONS.sub("", self.engine)
        plain_types = _EXACT if inner == self.engine else _IN_LISTS
        return inner.partition("(")[0] in plain_types

    @property
    def kind(self) -> str:
        """The type that its values are stored as."""
        base = self.engine.partition("(")[0]
        if self.typed and self._is_plain:
            return "text"
        if base in _WHOLE:
            return "int"
        if base == "UBIGINT":
            return "uint"
        if base in {"FLOAT", "DOUBLE", "DECIMAL"}:
            return "float"
        if base == "BOOLEAN":
            return "bool"
        return "json" if base in _NESTED or self.engine.endswith("]") else "text"

    def value(self) -> Expression:
        """Return an expression for its stored values."""
        column = Column(self.source)
        if self.engine == "JSON":
            return case((self._valid, self._text))
        if self.kind == "json":
            return Cast(call("to_json", column), "VARCHAR")
        return call("hex", column) if self.engine == "BLOB" else Cast(column, TYPES[self.kind])

    def damage(self) -> Expression:
        """Return whether the value is invalid JSON; such values are NULL."""
        return call("coalesce", negated(self._valid), FALSE)

    @property
    def _text(self) -> Expression:
        return Cast(Column(self.source), "VARCHAR")

    @property
    def _valid(self) -> Expression:
        return call("json_valid", self._text)


def _of_members(engine: str) -> bool:
    """Whether a type consists of structures or maps, or lists of these, with members that JSON represents exactly."""
    from dctv.signatures.types import Type, parse

    def is_exact(one: Type) -> bool:
        if one.children:
            return one.name in _CONTAINERS and all(map(is_exact, one.children))
        return one.name in _IN_JSON

    if not any(word in engine for word in _STRUCTURED):
        return False
    try:
        return is_exact(parse(engine))
    except ValueError:
        return False


def renamed(column: PlainColumn) -> PlainColumn:
    """Rename a column if the event table itself has one of that name."""
    taken = column.source in {TS, "dur"}
    return replace(column, shown=f"field_{column.source}") if taken else column
