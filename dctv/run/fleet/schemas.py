"""Bring the schemas that traces of a fleet have for one table together: one schema that holds the rows of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dctv.bind.types import VARCHAR, of_choice, settled
from dctv.errors import BindError
from dctv.record import replace
from dctv.run.fleet.members import FleetMember
from dctv.signatures.types import parse
from dctv.types.schema import ColumnType, Schema
from dctv.types.unit import NO_UNIT

_TEXT = VARCHAR.text


def with_known_types(
    found: Sequence[tuple[FleetMember, Schema]], having_values: Callable[[FleetMember, Sequence[str]], set[str]]
) -> Sequence[tuple[FleetMember, Schema]]:
    """Return schemas in which columns that are texts only because they have no values have types of other traces.

    `having_values` returns which columns of a trace have values. It is asked only where types differ, and of no more
    traces than it takes to know that there are texts.
    """
    known = {
        one.name: one
        for _, schema in reversed(found)
        for one in schema.columns
        if one.type != _TEXT and one.unit == NO_UNIT
    }
    texts = {member.name: [one for one in _texts(schema) if one in known] for member, schema in found}
    unsure = {name for names in texts.values() for name in names}
    empty: dict[str, set[str]] = {}
    for member, _ in found:
        asked = [name for name in texts[member.name] if name in unsure]
        if asked:
            unsure -= having_values(member, asked)
            empty[member.name] = {*asked}

    def typed(member: FleetMember, schema: Schema) -> Schema:
        untyped = empty.get(member.name, set()) & unsure
        return replace(schema, columns=tuple(known[one.name] if one.name in untyped else one for one in schema.columns))

    return [(member, typed(member, schema)) for member, schema in found]


def _texts(schema: Schema) -> list[str]:
    columns = (one for one in schema.columns if one.type == _TEXT and one.unit == NO_UNIT)
    return [one.name for one in columns if one.name not in schema.partitions]


def one_schema(fleet: str, name: str, found: Sequence[tuple[FleetMember, Schema]]) -> Schema:
    """Return a schema that holds the rows of all traces: of every column that any of them has."""
    first, whole = found[0]
    columns: dict[str, tuple[FleetMember, ColumnType]] = {}
    for member, schema in found:
        if (schema.kind, schema.partitions) != (whole.kind, whole.partitions):
            raise BindError(
                f"`{fleet}.{name}` is {whole.describe_one()} in `{first.name}` and {schema.describe_one()} in "
                f"`{member.name}`"
            )
        for column in schema.columns:
            known = columns.get(column.name)
            columns[column.name] = (member, column) if known is None else (known[0], _both(name, known, column, member))
    return Schema(whole.kind, tuple(column for _, column in columns.values()), whole.partitions)


def _both(table: str, known: tuple[FleetMember, ColumnType], column: ColumnType, member: FleetMember) -> ColumnType:
    first, one = known
    if one == column:
        return one
    if one.unit != column.unit:
        units = f"`{one.unit}` in `{first.name}` and `{column.unit}` in `{member.name}`"
        raise BindError(f"the unit of `{table}.{column.name}` is {units}")
    kinds = [parse(one.type), parse(column.type)]
    common = settled(of_choice(kinds))
    if common is None and not any(kind.children for kind in kinds):
        # A number in some traces and a text in others: arguments of events are such.
        common = VARCHAR
    if common is None:
        types = f"{one.type} in `{first.name}` and {column.type} in `{member.name}`"
        raise BindError(f"the type of `{table}.{column.name}` is {types}")
    return replace(one, type=common.text)
