"""Bind the select list and HAVING of SELECT SPAN and SELECT EVENT: payload, without the special columns."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind import expressions
from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.bind.result_names import ResultNames
from dctv.bind.select_cores import OutputColumn, aliases, bound_column, star
from dctv.bind.types import BOOLEAN
from dctv.errors import BindError
from dctv.plan import walk
from dctv.plan.expressions import Call, Expression
from dctv.record import replace
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS


def payload_items(core: ast.Core, context: ClauseContext, special: Sequence[OutputColumn]) -> list[OutputColumn]:
    """Bind the select list of a typed select; the special columns are refused by name and dropped from stars."""
    names = {s.name.lower() for s in special} | {TS, DURATION}
    # Events of a trace have their length as payload, which may be passed on.
    taken = names - {DURATION} if core.kind == "EVENT" else names
    own = {s.bound.value for s in special}
    items: list[OutputColumn] = []
    named = ResultNames()
    context = replace(context, aliases=named)
    for column in core.columns:
        if isinstance(column.expr, ast.Star):
            items += [item for item in star(column.expr, context, ()) if item.bound.value not in own]
            continue
        _refuse_name(column, core, taken if column.name is None else names)
        made = bound_column(column, context)
        if len(made) > 1:
            # COLUMNS, like a star, is about the payload.
            made = [item for item in made if item.name.lower() not in taken]
        for item in made:
            if core.kind == "SPAN":
                _refuse_unnest(item.bound)
            if column.name is None and item.bound.value in own:
                raise _listed(column, core, item.name)
            if column.name is not None:
                named.add(item.name, item.bound)
            items.append(item)
    _refuse_duplicates(core, items, taken)
    return items


def with_having(
    core: ast.Core, context: ClauseContext, items: Sequence[OutputColumn]
) -> tuple[list[Bound], Expression | None, bool]:
    """Return the bound columns with the bound HAVING, its condition if any, and whether the types of all are known."""
    parts = [item.bound for item in items]
    sure = all(one.type is not None for one in parts)
    if core.having is None:
        return parts, None, sure
    having = expressions.condition(core.having, replace(context, aliases=aliases(items), clause="HAVING"))
    return [*parts, having], having.value, sure and having.type == BOOLEAN


def _refuse_unnest(bound: Bound) -> None:
    if any(isinstance(node, Call) and node.function == "unnest" for node in walk.own(bound.value)):
        raise BindError(
            "`unnest` would make several spans of one, which overlap",
            bound.place,
            hint="use it in a plain SELECT, and make spans of its rows: dctv.as_spans(..., partition=>'a column')",
        )


def _refuse_name(column: ast.ResultColumn, core: ast.Core, names: set[str]) -> None:
    """Refuse the name of a special column; behind a qualifier it may be that of an input's payload."""
    name = column.name.text if column.name else None
    if name is None and isinstance(column.expr, ast.Column) and len(column.expr.path.parts) == 1:
        name = column.expr.path.parts[0].text
    if name is not None and name.lower() in names:
        raise _listed(column, core, name)


def _listed(column: ast.ResultColumn, core: ast.Core, name: str) -> BindError:
    return BindError(
        f"`{name}` may not be listed in SELECT {core.kind}: special columns are always part of it",
        column.place or column.expr.place,
        hint="leave it out",
    )


def _refuse_duplicates(core: ast.Core, items: Sequence[OutputColumn], special: set[str]) -> None:
    seen = set(special)
    doubled: list[OutputColumn] = []
    for item in items:
        if item.name.lower() in seen:
            doubled.append(item)
        seen.add(item.name.lower())
    if doubled:
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(item.name for item in doubled))
        starred = any(isinstance(c.expr, ast.Star) for c in core.columns)
        raise BindError(
            f"the result has several columns {listed}",
            doubled[0].bound.place or core.place,
            hint="list the columns with aliases instead of `*`" if starred else "give one of them another alias",
        )
