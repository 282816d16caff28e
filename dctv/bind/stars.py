"""Expand stars to their columns, without some, with others in their places, under other names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dctv.bind import expressions
from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.bind.many_columns import matcher
from dctv.bind.members import is_struct, members_of
from dctv.bind.scope import Scope, ScopeColumn, unknown_column
from dctv.bind.spellings import meant
from dctv.errors import BindError, nearest
from dctv.plan.expressions import Expression
from dctv.syntax import ast
from dctv.types.schema import ColumnType


def named_columns(expr: ast.Star, context: ClauseContext, away: Collection[Expression]) -> list[tuple[str, Bound]]:
    """Return the columns that `*` or `t.*` stands for, with their names."""
    columns = _starred(expr, context.scope, away)
    if not columns:
        raise BindError(
            "there is no column besides times and partitions" if context.scope.tables else "`*` needs a FROM",
            expr.place,
        )
    names = [c.name for c in columns]
    excluded = {index for path in expr.exclude for index in _listed(path, columns, context.scope)}
    renamed: dict[int, str] = {}
    for old, new in expr.rename:
        found = _listed(old, columns, context.scope)
        _refuse_twice(old, found, "RENAME", excluded, renamed)
        renamed |= dict.fromkeys(found, new.text)
    fits = None if expr.choice is None else matcher(expr.choice)
    replaced: dict[int, Bound] = {}
    for value, called in expr.replace:
        bound, path = expressions.bind(value, context), ast.Path((called,), place=called.place)
        found = _listed(path, columns, context.scope)
        _refuse_twice(path, found, "REPLACE", excluded, replaced)
        replaced |= dict.fromkeys(found, bound)
    items = []
    for index, column in enumerate(columns):
        if index in excluded or (fits is not None and not fits(column.name)):
            continue
        plain = Bound(column.value, column.column.unit, expr.place, type=column.type)
        items.append((renamed.get(index, column.name), replaced.get(index) or plain))
    if not items and expr.choice is not None:
        hint = f"columns here: {', '.join(names[:12])}"
        raise BindError("`*` is left with no column", expr.choice.place or expr.place, hint=hint)
    return items


def _refuse_twice(path: ast.Path, found: Sequence[int], clause: str, excluded: set[int], done: Collection[int]) -> None:
    """Refuse a column in RENAME or REPLACE that is excluded, or stands there before."""
    if not excluded.isdisjoint(found):
        raise BindError(f"`{path.text}` is excluded, so {clause} has no column to apply to", path.place)
    if any(index in done for index in found):
        raise BindError(f"`{path.text}` stands twice in {clause}", path.place)


def _starred(expr: ast.Star, scope: Scope, away: Collection[Expression]) -> list[ScopeColumn]:
    if expr.qualifier is not None:
        table = scope.find_table(tuple(p.text for p in expr.qualifier.parts))
        struct = scope.find(expr.qualifier) if table is None else None
        if struct is not None and is_struct(struct.type):
            members = members_of(struct.value, struct.type)
            return [ScopeColumn(ColumnType(name, made.text), value) for name, value, made in members]
        if table is None:
            aliases = [t.alias for t in scope.tables if t.alias]
            near = nearest(expr.qualifier.text, aliases)
            hint = f"did you mean `{near}`?" if near else f"tables here: {', '.join(aliases)}" if aliases else None
            raise BindError(f"unknown table `{expr.qualifier.text}`", expr.qualifier.place or expr.place, hint=hint)
        return list(table.columns)
    columns: list[ScopeColumn] = []
    full = set()
    for column in scope.columns():
        if column.value in away:
            merged = scope.merged.get(column.name.lower())
            if merged is not None and merged.value in away and column.name.lower() not in full:
                full.add(column.name.lower())
                columns.append(merged)
            continue
        columns.append(column)
    return columns


def _listed(path: ast.Path, columns: Sequence[ScopeColumn], scope: Scope) -> list[int]:
    """Return which columns of a star a name means: all that have it, unless a table stands before it."""
    wanted_name = path.parts[-1].text.lower()
    names = [column.name for column in columns]
    if len(path.parts) > 1 and wanted_name in scope.merged:
        raise BindError(
            f"`{wanted_name}` is one column of the joined tables here",
            path.place,
            hint=f"without a table in front it is meant: {path.parts[-1].text}",
        )
    eligible: Sequence[int] = range(len(columns))
    if len(path.parts) > 1:
        table = scope.find_table(tuple(part.text for part in path.parts[:-1]))
        own = () if table is None else (*table.columns, *table.shared)
        eligible = [index for index in eligible if any(columns[index].value == one.value for one in own)]
    found = meant([names[index] for index in eligible], path.parts[-1].text, path.place)
    if not found:
        raise unknown_column(path.text, nearest(path.parts[-1].text, names), names, path.place)
    return [eligible[index] for index in found]
