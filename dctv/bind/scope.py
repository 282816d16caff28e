"""Scopes: the columns that an expression can name, and their meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from dctv.bind.bound import Bound, Family
from dctv.bind.members import has_members, member_of
from dctv.bind.result_names import ResultNames
from dctv.bind.spellings import meant, value_of
from dctv.errors import BindError, Place, UnitError, nearest
from dctv.patterns import pattern
from dctv.plan.expressions import Column, Expression, Struct
from dctv.plan.nodes import Plan, physical_names
from dctv.record import field, record, replace
from dctv.signatures.structs import struct_type
from dctv.signatures.types import Type, parse
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS, ColumnType
from dctv.types.unit import NO_UNIT
from dctv.types.values import is_float, is_integer, is_string

_SYNONYMS = {
    "dur": DURATION,
    "duration": DURATION,
    "elapsed": DURATION,
    "ts": TS,
    "time": TS,
    "timestamp": TS,
    "start": TS,
}
"""What other tools call the columns of times."""


_UNNAMED = pattern(r"unnamed_subquery([2-9]|[1-9][0-9]+)?", re.IGNORECASE)


@record
class ScopeColumn:
    """A column in scope."""

    column: ColumnType
    value: Expression
    origin: Plan | None = None
    """Of a column `_ts`: the table that it is of."""

    @property
    def name(self) -> str:
        """Its name as the user knows it."""
        return self.column.name

    @property
    def type(self) -> Type | None:
        """Its type, if that is known yet."""
        return parse(self.column.type) if self.column.type else None

    def called(self, name: str) -> ScopeColumn:
        """Return the column under another name."""
        return replace(self, column=replace(self.column, name=name))


@record
class ScopeTable:
    """A table in scope under a qualifier; `path` is its full name where it was named without an alias."""

    alias: str | None
    columns: tuple[ScopeColumn, ...]
    path: tuple[str, ...] = ()
    shared: tuple[ScopeColumn, ...] = ()
    """Columns that it has in common with other tables: known by its qualifier, but not part of its `*`."""
    function: str | None = None
    """Of a call such as range(3) AS r: the function, whose name also means the column that the alias names."""

    def listing(self, function: str) -> ScopeTable:
        """Return the table as that of a function which lists values, and whose alias names them."""
        first, *others = self.columns
        return replace(self, columns=(first.called(self.alias or function), *others), function=function)

    def answers(self, qualifier: tuple[str, ...], *, exactly: bool) -> bool:
        """Whether a qualifier means this table."""

        def same(a: str, b: str) -> bool:
            return a == b if exactly else a.lower() == b.lower()

        if len(qualifier) == 1 and self.alias is not None:
            return same(qualifier[0], self.alias)
        tail = self.path[-len(qualifier) :]
        return len(tail) == len(qualifier) and all(map(same, tail, qualifier))


@record(frozen=False)
class Scope:
    """The tables of one select, and those of the enclosing selects."""

    tables: list[ScopeTable]
    parent: Scope | None = None
    merged: dict[str, ScopeColumn] = field(default_factory=dict)
    """Columns that a bare name means although several tables have them: those of USING, of partitions."""
    parameters: Mapping[str, ScopeColumn] = field(default_factory=dict)
    """The parameters of the lambdas around an expression, by name, which hide columns."""
    results: ResultNames = field(default_factory=ResultNames)
    """Results that subqueries may name, too."""

    def columns(self) -> Iterator[ScopeColumn]:
        """All columns in order."""
        for table in self.tables:
            yield from table.columns

    def all_names(self) -> list[str]:
        """Names that a column may be called by, for suggestions."""
        inner = [c.name for c in self.columns()]
        return inner + (self.parent.all_names() if self.parent else [])

    def find_table(self, qualifier: tuple[str, ...]) -> ScopeTable | None:
        """Return the table that a qualifier means."""
        for exactly in (True, False):
            found = [t for t in self.tables if t.answers(qualifier, exactly=exactly)]
            if len(found) == 1:
                return found[0]
        return self._unnamed(qualifier[0]) if len(qualifier) == 1 else None

    def _table_around(self, qualifier: tuple[str, ...]) -> ScopeTable | None:
        """Return the table that a qualifier means, here or further out."""
        scope: Scope | None = self
        found = None
        while found is None and scope is not None:
            found, scope = scope.find_table(qualifier), scope.parent
        return found

    def _unnamed(self, name: str) -> ScopeTable | None:
        """Return the subquery without a name that the engine's own name for it means."""
        number = _UNNAMED.fullmatch(name)
        nameless = [t for t in self.tables if t.alias is None and not t.path]
        at = int(number[1] or 1) - 1 if number is not None else -1
        return nameless[at] if 0 <= at < len(nameless) else None

    def find(self, path: ast.Path) -> ScopeColumn | None:
        """Return the column that a name means here, or None; an ambiguous name is an error."""
        parts = tuple(p.text for p in path.parts)
        if len(parts) > 1:
            table = self.find_table(parts[:-1])
            if table is None:
                return None
            return _choose(list(table.columns), path) or _choose(list(table.shared), path) or _listed([table], path)
        parameter = value_of(self.parameters, parts[0], path.place)
        if parameter is not None:
            return parameter
        merged = self.merged.get(parts[0].lower())
        return merged or _choose(list(self.columns()), path) or _listed(self.tables, path)

    def resolve(self, path: ast.Path) -> Bound:
        """Return the column that a name means, here or further out, or fail with the nearest name."""
        found = self.lookup(path)
        if found is None:
            raise self._unknown(path)
        return found

    def lookup(self, path: ast.Path) -> Bound | None:
        """Return the column that a name means, here or further out; None if there is none."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.find(path)
            if found is not None:
                family = family_of(found.column.type)
                # What is of a select further out is left to the engine, which cannot do it everywhere.
                made = found.type
                return Bound(found.value, found.column.unit, path.place, family=family, type=made, origin=found.origin)
            member = scope.member(path) or (None if scope is self else scope.result(path)) or scope.row_struct(path)
            if member is not None:
                return member
            scope = scope.parent
        return None

    def result(self, path: ast.Path) -> Bound | None:
        """Return the result of this select that a name in a subquery means: of a single row, of no group or window."""
        found = self.results.find(path.parts[0].text, path.place) if len(path.parts) == 1 else None
        if found is None or found.aggregate or found.serial:
            return None
        return replace(found, place=path.place)

    def row_struct(self, path: ast.Path) -> Bound | None:
        """Return a row of the named table as a struct."""
        table = self.find_table((path.parts[0].text,)) if len(path.parts) == 1 else None
        if table is None or not table.columns:
            return None
        for one in table.columns:
            if one.column.unit != NO_UNIT:
                raise UnitError(
                    f"a row as a value has no units, and `{one.name}` is in `{one.column.unit}`",
                    path.place,
                    hint="name its columns one by one",
                )
        _refuse_doubled(table, path.place)
        types = [one.type for one in table.columns if one.type is not None]
        names = tuple(one.name for one in table.columns)
        made = struct_type(names, types) if len(types) == len(names) else None
        parts = tuple(Bound(one.value, place=path.place, type=one.type) for one in table.columns)
        return Bound(Struct(names, tuple(one.value for one in parts)), place=path.place, parts=parts, type=made)

    def declared(self, path: ast.Path) -> Type | None:
        """Return the type of the column that a name means, also if that is of a select further out."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.find(path)
            if found is not None:
                return found.type
            scope = scope.parent
        return None

    def member(self, path: ast.Path) -> Bound | None:
        """Return `column.field` of a column that is a struct or JSON."""
        for length in range(len(path.parts) - 1, 0, -1):
            found = self.find(ast.Path(path.parts[:length], place=path.place))
            if found is not None and has_members(found.type):
                value, made = found.value, found.type
                for part in path.parts[length:]:
                    value, made = member_of(value, made, part.text, part.place or path.place)
                return Bound(value, place=path.place, type=made)
        return None

    def _unknown(self, path: ast.Path) -> BindError:
        if len(path.parts) > 1:
            qualifier = tuple(p.text for p in path.parts[:-1])
            table = self._table_around(qualifier)
            if table is not None:
                near = _meant(path.parts[-1].text, [c.name for c in table.columns])
                return unknown_column(path.text, near, [c.name for c in table.columns], path.place)
            return BindError(
                f"unknown table `{'.'.join(qualifier)}` in `{path.text}`", path.place, hint=self._other_table(path)
            )
        names = self.all_names()
        near = _meant(path.text, names)
        if near is None and path.place is not None and path.place.text.startswith('"'):
            text = path.text.replace("'", "''")
            hint = f"double quotes are for names; a string stands in single quotes: '{text}'"
            return BindError(f"unknown column `{path.text}`", path.place, hint=hint)
        return unknown_column(path.text, near, names, path.place)

    def _other_table(self, path: ast.Path) -> str | None:
        """Return a hint for a column whose table is not there."""
        if path.text in self.all_names():
            return f'a name with a dot stands in quotes: "{path.text}"'
        aliases = [t.alias for t in self.tables if t.alias]
        near = nearest(path.parts[-2].text, aliases)
        if near:
            return f"did you mean `{near}`?"
        return f"tables here: {', '.join(aliases)}" if aliases else None


def _meant(name: str, names: list[str]) -> str | None:
    """Return the column that a name may stand for: other tools call times otherwise."""
    here = _SYNONYMS.get(name.lower())
    return here if here in names else nearest(name, names)


def unknown_column(name: str, near: str | None, names: list[str], place: Place | None) -> BindError:
    """Return the error for a column that is not there."""
    hint = f"did you mean `{near}`?" if near else None
    if hint is None and names:
        hint = f"columns here: {', '.join(dict.fromkeys(names[:12]))}{', ...' if len(names) > 12 else ''}"
    return BindError(f"unknown column `{name}`", place, hint=hint)


def _choose(columns: list[ScopeColumn], path: ast.Path) -> ScopeColumn | None:
    column_name = path.parts[-1].text
    found = meant([c.column.name for c in columns], column_name, path.place)
    if len(found) > 1:
        raise BindError(
            f"column `{column_name}` is ambiguous: {len(found)} columns have the name",
            path.place,
            hint="put the table's name or alias in front",
        )
    return columns[found[0]] if found else None


def _listed(tables: Sequence[ScopeTable], path: ast.Path) -> ScopeColumn | None:
    """Return the column that the name of a function means which lists values, such as range."""
    name = path.parts[-1].text.lower()
    return _choose([table.columns[0].called(name) for table in tables if table.function == name], path)


def _refuse_doubled(table: ScopeTable, place: Place | None) -> None:
    """Refuse a row as a value whose members the engine, which ignores case, could not tell apart."""
    seen: dict[str, str] = {}
    for one in table.columns:
        lowered = one.name.lower()
        if lowered in seen:
            raise BindError(
                f"a row as a value has one member of each name, found `{seen[lowered]}` and `{one.name}`",
                place,
                hint="name its columns one by one",
            )
        seen[lowered] = one.name


def family_of(type_name: str) -> Family:
    """Return the family of a type of the engine."""
    if is_integer(type_name):
        return "integer"
    if is_float(type_name):
        return "float"
    return "text" if is_string(type_name) else None


def table_in_scope(plan: Plan, source: str, alias: str | None, path: tuple[str, ...] = ()) -> ScopeTable:
    """Make a table known under an alias; `source` is its name inside the engine's query."""
    columns = [
        ScopeColumn(column, Column(physical, source), plan if physical == TS else None)
        for column, physical in zip(plan.schema.columns, physical_names(plan.schema), strict=True)
    ]
    return ScopeTable(alias, tuple(columns), path)
