"""Bind calls of macros: bind their texts again for each call, with the arguments in place of the parameters.

A parameter is bound where the text names it, but with the names of the place of the call: so columns of the text and
those of an argument never mean each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from dctv.bind.binding import Binding
from dctv.bind.bound import Bound, with_macro
from dctv.bind.context import BoundQuery, ClauseContext, Leaves, Subqueries
from dctv.bind.result_names import ResultNames
from dctv.bind.scope import Scope
from dctv.catalog.namespace import Macro
from dctv.errors import BindError, Place, QueryError, nearest
from dctv.plan import walk
from dctv.plan.nodes import Plan
from dctv.record import field, record, replace
from dctv.syntax import ast
from dctv.syntax.node import nodes

Bind = Callable[[ast.Expr, ClauseContext], Bound]
_Value = TypeVar("_Value", ast.Expr, ast.Argument)
_TABLES = (ast.TableArgument, ast.CallArgument)


@record
class Expansion:
    """A call of a macro, for error messages."""

    name: str
    place: Place | None
    own: list[QueryError] = field(default_factory=list)
    """Errors of arguments, which are not the macro's."""

    @contextmanager
    def naming_macro(self) -> Iterator[None]:
        """Add the macro's name and the place of the call to errors in its text."""
        try:
            yield
        except QueryError as error:
            if any(error is one for one in self.own):
                raise
            place = error.place if self.contains(error.place) else self.place
            renamed: QueryError = type(error)(with_macro(self.name, error.message), place, hint=error.hint)
            raise renamed from None

    def contains(self, place: Place | None) -> bool:
        """Whether a place is within the call."""
        whole = self.place
        if place is None or whole is None:
            return False
        return place.source is whole.source and whole.start <= place.start and place.stop <= whole.stop


@record
class MacroArgument:
    """An argument with the context that it is bound in."""

    name: str
    expr: ast.Expr
    context: ClauseContext
    expansion: Expansion
    binder: Subqueries
    argument: ast.Argument | None = None
    """Its form as an argument of a table-valued function."""

    def bound(self, at: ClauseContext, bind: Bind) -> Bound:
        """Bind it where the text of the macro names it."""
        context = replace(self.context, leaves=at.leaves)
        own_level = at.scope.tables is self.context.scope.tables
        if own_level:
            inside, allowed = at.inside_aggregate, at.aggregates_allowed
            context = replace(context, inside_aggregate=inside, aggregates_allowed=allowed, clause=at.clause)
        try:
            found = bind(self.expr, context)
        except QueryError as error:
            self.expansion.own.append(error)
            raise
        if not own_level and at.leaves is not self.context.leaves and walk.columns_in(found.value):
            raise BindError(f"`{self.name}` stands in FROM of a subquery, where it cannot name columns", found.place)
        return found


@record
class _Closed:
    """A binder of subqueries in the text of a macro, which see no columns of the call."""

    binder: Subqueries

    def inline(self, select: ast.Select, _parent: Scope, leaves: Leaves) -> BoundQuery:
        """Bind a subquery."""
        return self.binder.inline(select, Scope([]), leaves)

    def copy(self, **changes: Any) -> Subqueries:
        """Return the binder for other subqueries."""
        return self.binder.copy(**changes)


def macro_of(path: ast.Path, context: ClauseContext) -> Macro | None:
    """Return the macro that a function's name means; the standard library calls none."""
    found = None if context.proven else context.env.catalog.find(tuple(part.text for part in path.parts))
    return found[0] if found is not None and isinstance(found[0], Macro) else None


def expand(macro: Macro, call: ast.Call, context: ClauseContext, bind: Bind) -> Bound:
    """Bind a call of a macro of values.

    Raises:
        BindError: the arguments do not fit, or the macro calls itself.
    """
    name, body = call.function.text, macro.body
    if isinstance(body, ast.Select):
        raise BindError(f"`{name}` is a table macro, which belongs in FROM", call.place)
    if (
        call.distinct
        or call.order_by
        or call.nulls
        or call.filter is not None
        or call.over is not None
        or call.exported
    ):
        hint = "DISTINCT, FILTER, OVER and the like stand in the macro's text"
        raise BindError(f"`{name}` is a macro, which accepts only values", call.place, hint=hint)
    matched = _matched(name, macro, call.arguments, call.keywords, call.place)
    env = replace(context.env, macro_arguments={}, expanding=_deeper(name, macro, context.env.expanding, call.place))
    outside = context.subqueries.copy(env=context.env)
    closed = replace(context, env=env, scope=Scope([]), aggregated=None, aliases=ResultNames(), subqueries=outside)
    expansion = Expansion(name, call.place)
    substitutions = {}
    for key, value in matched.items():
        within = context if value is not None else closed
        expr = macro.default(key) if value is None else value
        substitutions[key] = MacroArgument(
            key, expr, within, expansion, outside, ast.ValueArgument(expr, place=expr.place)
        )
    env = replace(env, macro_arguments=substitutions)
    inside = _Closed(context.subqueries.copy(env=env, common={}))
    with expansion.naming_macro():
        made = bind(body, replace(context, env=env, aliases=ResultNames(), subqueries=inside))
    return replace(_moved(made, expansion), place=call.place)


def expand_table(macro: Macro, node: ast.TableCall, binder: Binding) -> Plan:
    """Bind a call of a macro of tables.

    Raises:
        BindError: the arguments do not fit, or the macro calls itself.
    """
    name, body = node.path.text, macro.body
    if not isinstance(body, ast.Select):
        raise BindError(f"`{name}` is an expression macro, which cannot be used in FROM", node.path.place)
    matched = _matched(name, macro, node.arguments, node.keywords, node.place)
    expanding = _deeper(name, macro, binder.env.expanding, node.place)
    expansion = Expansion(name, node.place)
    context = binder.context(Scope([]), Leaves(), clause="an argument", aggregates_allowed=False)
    read, common, substitutions = _read(body), {}, {}
    for key, value in matched.items():
        argument = _as_argument(macro.default(key)) if value is None else value
        argument = _forwarded(argument, binder)
        if key in read and isinstance(argument, (*_TABLES, ast.SelectArgument)):
            common[key] = _plan(argument, binder)
        elif key in read or isinstance(argument, _TABLES):
            raise _unfit(key, name, argument, table=key in read)
        else:
            substitutions[key] = MacroArgument(key, _as_value(argument, key), context, expansion, binder, argument)
    env = replace(binder.env, macro_arguments=substitutions, expanding=expanding)
    inside = binder.copy(env=env, common=common, common_dependencies={}, recursive=False, depth=binder.depth + 1)
    with expansion.naming_macro():
        return inside.plan(body)


def _deeper(name: str, macro: Macro, expanding: Sequence[int], place: Place | None) -> tuple[int, ...]:
    if id(macro) in expanding:
        raise BindError(f"the macro `{name}` calls itself", place)
    return (*expanding, id(macro))


def _matched(
    name: str,
    macro: Macro,
    arguments: Sequence[_Value],
    keywords: Sequence[tuple[ast.Name, _Value]],
    place: Place | None,
) -> Mapping[str, _Value | None]:
    """Return the argument for each parameter, by lower-case name; None for its default."""
    names = list(macro.parameters)
    if len(arguments) > len(names):
        raise BindError(
            f"`{name}` takes {len(names)} argument{'' if len(names) == 1 else 's'}, found {len(arguments)}",
            arguments[len(names)].place or place,
            hint=f"it is {macro.doc}",
        )
    matched: dict[str, _Value | None] = dict(zip(names, arguments, strict=False))
    for key, value in keywords:
        lower = key.text.lower()
        if lower not in names:
            near = nearest(key.text, names)
            hint = f"did you mean `{near}`?" if near else f"it is {macro.doc}"
            raise BindError(f"`{name}` has no argument `{key.text}`", key.place or place, hint=hint)
        if lower in matched:
            raise BindError(f"argument `{key.text}` is given twice", key.place or place)
        matched[lower] = value
    for one, default in macro.parameters.items():
        if one not in matched:
            if default is None:
                raise BindError(f"`{name}` needs the argument `{one}`", place, hint=f"it is {macro.doc}")
            matched[one] = None
    return matched


def _moved(bound: Bound, expansion: Expansion) -> Bound:
    """Move the places of a macro's text to the place of the call, for errors that are found later."""
    if expansion.contains(bound.place):
        return bound
    parts = tuple(_moved(part, expansion) for part in bound.parts)
    return replace(bound, parts=parts, place=expansion.place, macro=expansion.name)


def _read(body: ast.Select) -> set[str]:
    """Return the bare names that stand where tables are read."""
    named = (node.path.parts for node in nodes(body) if isinstance(node, ast.TableName))
    return {parts[0].text.lower() for parts in named if len(parts) == 1}


def _forwarded(argument: ast.Argument, binder: Binding) -> ast.Argument:
    """Return the argument for a parameter of the enclosing macro."""
    if isinstance(argument, ast.TableArgument) and len(argument.path.parts) == 1:
        key = argument.path.parts[0].text.lower()
        if key in binder.env.macro_arguments:
            return ast.ValueArgument(ast.Column(argument.path, place=argument.place), place=argument.place)
    return argument


def _plan(argument: ast.Argument, binder: Binding) -> Plan:
    match argument:
        case ast.TableArgument():
            return binder.table(ast.TableName(argument.path, place=argument.place))
        case ast.CallArgument():
            return binder.table(argument.call)
        case ast.SelectArgument():
            return binder.plan(argument.select)
        case _:
            raise AssertionError(type(argument))


def _as_argument(default: ast.Expr) -> ast.Argument:
    if isinstance(default, ast.Column):
        return ast.TableArgument(default.path, place=default.place)
    return ast.ValueArgument(default, place=default.place)


def _as_value(argument: ast.Argument, key: str) -> ast.Expr:
    """Return the value that an argument of a macro of tables is in an expression."""
    match argument:
        case ast.ValueArgument():
            return argument.expr
        case ast.SelectArgument():
            return ast.ScalarSelect(argument.select, place=argument.place)
        case ast.ListArgument():
            return ast.List(tuple(_as_value(item, key) for item in argument.items), place=argument.place)
        case _:
            raise BindError(f"`{key}` is a value, a list or a table, found a dict", argument.place)


def _unfit(key: str, name: str, argument: ast.Argument, *, table: bool) -> BindError:
    if table:
        return BindError(f"`{key}` of the macro `{name}` is a table, found a value", argument.place)
    hint = "texts stand in single quotes" if isinstance(argument, ast.TableArgument) else None
    return BindError(f"`{key}` of the macro `{name}` is a value, found a table", argument.place, hint=hint)
