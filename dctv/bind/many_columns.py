"""Expand COLUMNS(...) and the choices of stars: columns by their names, and an expression once for each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from fnmatch import translate
from typing import Any

from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext, Leaves
from dctv.bind.relations import relation
from dctv.bind.scope import Scope
from dctv.bind.spellings import meant
from dctv.errors import BindError, Place, nearest
from dctv.patterns import pattern
from dctv.plan.expressions import Expression
from dctv.plan.order import RowOrder
from dctv.record import fields, record, replace
from dctv.syntax import ast
from dctv.syntax.logical import logical
from dctv.syntax.node import nodes

_GROUP = pattern(r"\\([0-9])")
Starred = Callable[[ast.Star, ClauseContext, Collection[Expression]], Sequence[tuple[str, Bound]]]
"""Gives the columns that a star stands for, with their names."""


@record(eq=False, text=False)
class Chosen(ast.Expr):
    """One column that COLUMNS stands for, where the text has COLUMNS."""

    bound: Any


def chosen(bound: Bound, place: Place | None) -> ast.Expr:
    """Return a placeholder for a column that is already bound."""
    return Chosen(bound, place=place)


Made = Callable[[Bound, Place | None], ast.Expr]
"""Gives what stands for a column where the text has COLUMNS."""


@record
class MatchedColumn:
    """A matched column, and the groups of the regular expression in its name."""

    name: str
    bound: Bound
    groups: tuple[str, ...]

    def called(self, text: str) -> str:
        r"""Return a name with `\0` replaced by the column's name, and `\1` by the first group."""

        def part(found: re.Match[str]) -> str:
            number = int(found[1])
            return self.groups[number] if number < len(self.groups) else ""

        return _GROUP.sub(part, text)


def matcher(choice: ast.Choice) -> Callable[[str], bool]:
    """Return a test for the names that remain of a star."""
    text, flags = choice.pattern, re.DOTALL
    match choice.op:
        case "LIKE" | "ILIKE":
            parts = {"%": ".*", "_": "."}
            pieces = re.findall(rf"{re.escape(choice.escape)}.|." if choice.escape else ".", text, re.DOTALL)
            text = "".join(parts.get(one, re.escape(one[-1])) for one in pieces)
            flags |= re.IGNORECASE if choice.op == "ILIKE" else 0
        case "GLOB":
            text = translate(text)
        case _:
            pass
    compiled = _compiled(text, choice, flags)
    test = compiled.search if choice.op == "REGEXP" else compiled.fullmatch
    return lambda name: (test(name) is not None) != choice.negated


def _compiled(text: str, node: ast.Node, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise BindError(f"the regular expression is malformed: {error}", node.place) from None


def once_each(
    expr: ast.Expr, context: ClauseContext, starred: Starred, made: Made = chosen
) -> list[tuple[MatchedColumn | None, ast.Expr]]:
    """Return an expression for each of the columns that COLUMNS in it stands for; itself where it has none.

    All COLUMNS of an expression stand for the same column at once, so they must say the same.
    """
    # Queries within have columns of their own.
    found = [node for node in nodes(expr, without=(ast.Select, ast.Path)) if isinstance(node, ast.Columns)]
    if not found:
        return [(None, expr)]
    spread = {one: _columns(one, context, starred) for one in found if one.spread}
    expr = _replaced(expr, {one: [made(c.bound, one.place) for c in own] for one, own in spread.items()})
    others = list(dict.fromkeys(one for one in found if not one.spread))
    if not others:
        return [(None, expr)]
    if len(others) > 1:
        raise BindError(
            "the COLUMNS of one expression select different columns",
            others[1].place,
            hint="use the same COLUMNS(...) in both, or spread one into arguments with *COLUMNS(...)",
        )
    return [
        (one, _replaced(expr, {others[0]: [made(one.bound, others[0].place)]}))
        for one in _columns(others[0], context, starred)
    ]


def of_all(expr: ast.Expr, context: ClauseContext, starred: Starred, made: Made = chosen) -> ast.Expr:
    """Return a condition that holds where it does for each of the columns that COLUMNS in it stands for."""
    if isinstance(expr, ast.Logical) and expr.op == "AND":
        tests = [of_all(one, context, starred, made) for one in expr.operands]
        same = all(test is one for test, one in zip(tests, expr.operands, strict=True))
        return expr if same else logical("AND", tests, expr.place)
    return logical("AND", [one for _, one in once_each(expr, context, starred, made)], expr.place)


def _replaced(node: Any, by: dict[ast.Columns, list[ast.Expr]]) -> Any:
    """Return a node with COLUMNS replaced by other nodes, or by several where they are spread among arguments."""
    if isinstance(node, tuple):
        made: list[Any] = []
        for one in node:
            if isinstance(one, ast.Columns) and one in by:
                made += by[one]
            else:
                made.append(_replaced(one, by))
        return tuple(made)
    if isinstance(node, ast.Columns) and node in by:
        return by[node][0]
    if not isinstance(node, ast.Node) or isinstance(node, ast.Select):
        return node
    changes = {one.name: _replaced(getattr(node, one.name), by) for one in fields(node) if one.name != "place"}
    return replace(node, **changes)


def _columns(node: ast.Columns, context: ClauseContext, starred: Starred) -> list[MatchedColumn]:
    choice = node.choice
    star = choice if isinstance(choice, ast.Star) else ast.Star(node.qualifier, place=node.place)
    # Of a span group the columns that aggregates see are meant.
    seen = context if context.aggregated is None else replace(context, scope=context.aggregated)
    starred_columns = starred(star, seen, context.away)
    match choice:
        case ast.Star():
            found = [MatchedColumn(name, bound, (name,)) for name, bound in starred_columns]
        case ast.String(text):
            regex = _compiled(text, choice)
            matches = [(name, bound, regex.search(name)) for name, bound in starred_columns]
            found = [MatchedColumn(n, b, (n, *(g or "" for g in m.groups()))) for n, b, m in matches if m is not None]
        case ast.List(items) if all(isinstance(one, ast.String) for one in items):
            # Each column once, and in the order of the table, as in the engine.
            listed = {_named(one, starred_columns).name for one in items if isinstance(one, ast.String)}
            found = [
                _named(ast.String(name), starred_columns)
                for name in dict.fromkeys(name for name, _ in starred_columns)
                if name in listed
            ]
        case ast.Lambda():
            selected = _selected(choice, [name for name, _ in starred_columns], context)
            found = [MatchedColumn(name, bound, (name,)) for name, bound in starred_columns if name in selected]
        case _:
            raise BindError(
                "COLUMNS takes a star, a regular expression, a list of names or a lambda of a name", choice.place
            )
    if not found:
        names = [name for name, _ in starred_columns]
        near = nearest(choice.text, names) if isinstance(choice, ast.String) else None
        hint = f"did you mean `{near}`?" if near else f"columns here: {', '.join(names[:12])}"
        raise BindError("COLUMNS matches no column", choice.place, hint=hint)
    return found


def _named(name: ast.String, columns: Sequence[tuple[str, Bound]]) -> MatchedColumn:
    for index in meant([own for own, _ in columns], name.text, name.place):
        own, bound = columns[index]
        return MatchedColumn(own, bound, (own,))
    near = nearest(name.text, [own for own, _ in columns])
    raise BindError(f"unknown column `{name.text}`", name.place, hint=f"did you mean `{near}`?" if near else None)


def _selected(test: ast.Lambda, names: Sequence[str], context: ClauseContext) -> set[str]:
    """Return the names for which a lambda holds: the engine computes it."""
    if len(test.parameters) != 1:
        raise BindError("the lambda of COLUMNS has one parameter, the name of a column", test.place)
    rows = ast.Values(tuple((ast.String(name),) for name in names))
    table = ast.TableSelect(ast.Select(rows), ast.Alias(ast.Name("names"), test.parameters))
    core = ast.Core((ast.ResultColumn(test.body, place=test.body.place),), source=table, place=test.place)
    leaves = Leaves()
    query = context.subqueries.inline(ast.Select(core, place=test.place), Scope([]), leaves)
    values = context.env.evaluate(relation(query, leaves, context.env, test.place, RowOrder.STABLE))
    return {name for name, value in zip(names, values, strict=True) if value is True}
