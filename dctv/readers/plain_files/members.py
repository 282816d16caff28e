"""Turn a column of JSON objects into a column for each of their members, with the narrowest type of all its values.

The engine's own inference rounds whole numbers of more than 64 bits, cuts times in texts to microseconds, rewrites
dates and UUIDs, and drops members of structures whose names differ only by case. Here a column is a number, truth value
or text only where all of its values are, and keeps JSON as it is written everywhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from dctv.plan.build import call, case, equal, grouped, is_not_null, number, over, select, sorted_by, unequal, where
from dctv.plan.expressions import And, Cast, Column, Expression, InList, List, Text
from dctv.plan.queries import Item, Select
from dctv.record import record, replace

MOST = 1000
"""The maximum number of different members that become columns: more are keys of a map rather than names."""

_JSON = "json"
_VALUES = "members"
_TEXT, _TRUTH, _OTHER, _FRACTION, _EITHER, _SIGNED, _UNSIGNED, _LARGER = (1 << place for place in range(8))
"""Kinds of values: the last four are whole numbers that fit into either integer of 64 bits, one of them, or none."""
_DIGITS = "DIGITS"
"""The kind of whole numbers of which some have more than 64 bits: texts."""


@record
class ObjectRows:
    """The rows of lines that are objects."""

    query: Select
    wide: bool = False
    """Whether the objects have too many different members for columns: then there is one column, `json`."""
    repeated: int = 0
    """How many members their objects have already; the first one counts."""


def rows_of(lines: Select, connection: Any, as_text: Collection[str] = ()) -> ObjectRows:
    """Return the rows of the lines that are objects.

    Columns of values of several types are JSON, or texts if they are among `as_text`.
    """
    objects = where(lines, equal(call("json_type", Column(_JSON)), Text("OBJECT")))
    names = _names(objects, connection)
    if not 0 < len(names) <= MOST:
        return ObjectRows(objects, bool(names))
    paths = List(tuple(Text(_path(name)) for name in names))
    values = select(Item(call("json_extract", Column(_JSON), paths), _VALUES), source=objects)
    shown = distinct_names(names)
    found, given = _kinds(values, len(names), connection)
    kinds = ["VARCHAR" if kind == "JSON" and name in as_text else kind for kind, name in zip(found, shown, strict=True)]
    items = [
        Item(_typed(_value(place), kind), name) for place, (kind, name) in enumerate(zip(kinds, shown, strict=True))
    ]
    return ObjectRows(select(*items, source=values), repeated=sum(names.values()) - given)


def _names(objects: Select, connection: Any) -> dict[str, int]:
    """Return how often each member occurs, in the order in which they appear, one more than `MOST` at most."""
    from dctv.engines.sql.duckdb import write

    names = select(Item(call("unnest", call("json_keys", Column(_JSON))), "name"), source=objects)
    placed = select("name", Item(over(call("row_number")), "place"), source=names)
    counted = grouped(select("name", Item(call("count", Column("name")), "times"), source=placed), ["name"])
    found = connection.execute(write(replace(sorted_by(counted, call("min", Column("place"))), limit=number(MOST + 1))))
    return dict(found.fetchall())


def _path(name: str) -> str:
    """Return the JSON pointer of a member."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names that differ by more than case, as the engine's do: later ones get a number."""
    # Arrow's interface ends a name at its first zero.
    names = [name.replace("\0", "\N{REPLACEMENT CHARACTER}") for name in names]
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    shown = []
    for name in names:
        new, count = name or "_", 0
        while new.lower() in seen or (new != name and new.lower() in taken):
            count += 1
            new = f"{name or '_'}_{count}"
        seen.add(new.lower())
        shown.append(new)
    return shown


def _value(place: int) -> Expression:
    return call("list_extract", Column(_VALUES), number(place + 1))


def _kinds(values: Select, count: int, connection: Any) -> tuple[list[str], int]:
    """Return the type of each column, and how many values there are."""
    from dctv.engines.sql.duckdb import write

    kinds = [call("bit_or", _kind_of(_value(place))) for place in range(count)]
    given = [call("count", _value(place)) for place in range(count)]
    found = connection.execute(write(select(*kinds, *given, source=values))).fetchone()
    return [_type(kinds or 0) for kinds in found[:count]], sum(found[count:])


def _kind_of(value: Expression) -> Expression:
    """Return the kind of a value; NULL where there is none."""
    found, written = call("json_type", value), Cast(value, "VARCHAR")

    def is_any(*names: str) -> Expression:
        return InList(found, tuple(map(Text, names)))

    return case(
        (is_any("VARCHAR"), number(_TEXT)),
        (is_any("BOOLEAN"), number(_TRUTH)),
        (And((is_any("UBIGINT"), is_not_null(Cast(written, "BIGINT", lenient=True)))), number(_EITHER)),
        (is_any("UBIGINT"), number(_UNSIGNED)),
        (is_any("BIGINT"), number(_SIGNED)),
        (And((is_any("DOUBLE", "HUGEINT"), call("regexp_matches", written, Text(r"^-?\d+$")))), number(_LARGER)),
        (is_any("DOUBLE", "HUGEINT"), number(_FRACTION)),
        (unequal(found, Text("NULL")), number(_OTHER)),
    )


def _type(kinds: int) -> str:
    """Return the narrowest type for values of some kinds."""
    if kinds & (_TEXT | _TRUTH | _OTHER) and kinds & (kinds - 1):
        return "JSON"
    if kinds & _FRACTION:
        return "DOUBLE"
    if kinds & _LARGER or (kinds & _SIGNED and kinds & _UNSIGNED):
        return _DIGITS
    whole = "UBIGINT" if kinds & _UNSIGNED else "BIGINT"
    return {0: "VARCHAR", _TEXT: "VARCHAR", _TRUTH: "BOOLEAN", _OTHER: "JSON"}.get(kinds, whole)


def _typed(value: Expression, kind: str) -> Expression:
    """Return a value of JSON as one of a type, where null is NULL."""
    given = case((unequal(call("json_type", value), Text("NULL")), value))
    if kind == "JSON":
        return given
    text = call("json_extract_string", given, Text("$")) if kind == "VARCHAR" else Cast(given, "VARCHAR")
    return text if kind in {"VARCHAR", _DIGITS} else Cast(text, kind)
