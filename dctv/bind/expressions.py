"""Bind expressions: names to columns, operators to the engine's, units checked and converted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import copysign, isfinite
from typing import cast

from dctv.bind import calls, nested, operators, time_literals
from dctv.bind.alike import alike
from dctv.bind.asked_types import typed, typed_beside_units
from dctv.bind.bound import Bound, as_interval, constant, convert, decimal_literal, is_date, is_time, with_parts
from dctv.bind.conditions import condition_of
from dctv.bind.context import ClauseContext
from dctv.bind.grouping import aggregates, parts_of
from dctv.bind.many_columns import Chosen
from dctv.bind.members import shown
from dctv.bind.null_warnings import warn_of_null
from dctv.bind.parameters import Value, value_of
from dctv.bind.quantified import quantified
from dctv.bind.regular_expressions import are_read
from dctv.bind.scope import Scope, family_of
from dctv.bind.type_names import engine_name
from dctv.bind.types import (
    BOOLEAN,
    INTERVAL,
    STRING_LITERAL,
    VARCHAR,
    counts,
    of_cast,
    of_choice,
    of_search,
    settled,
)
from dctv.bind.types import NULL as NULL_TYPE
from dctv.bind.windows import FIRST, WITHIN
from dctv.contracts.table_function import Quantity
from dctv.errors import BindError, UnitError
from dctv.patterns import pattern
from dctv.plan.build import call, negated
from dctv.plan.expressions import (
    COMPARISONS,
    NULL,
    Binary,
    Boolean,
    Call,
    Case,
    Cast,
    Collate,
    Exists,
    Expression,
    InQuery,
    Subquery,
    Text,
    Window,
)
from dctv.record import replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import parse_unit
from dctv.types.values import is_numeric, may_have_unit

_FUNCTIONS = {
    "current_date": "current_date",
    "current_time": "get_current_time",
    "current_timestamp": "now",
    "localtime": "current_localtime",
    "localtimestamp": "current_localtimestamp",
}
"""Words of SQL that call a function without parentheses, where no column has the name."""
_READABLE = ("VARCHAR", "STRING_LITERAL", "JSON", "ENUM", "BOOLEAN")
"""Types whose values the engine reads as numbers where a query casts them."""
_LONGEST_ALIAS = 2
"""A result column is `name`, or `alias.name`."""
_COLLATION = pattern(r"\w+(?:\.\w+)*")
_COLLATIONS = frozenset(("BINARY", "C", "NFC", "NOACCENT", "NOCASE", "POSIX"))
"""Those that the engine surely has."""


def bind(expr: ast.Expr, context: ClauseContext) -> Bound:
    """Bind one expression."""
    made = _FORMS[type(expr)](expr, context)
    value = made.value
    if isinstance(value, Binary | Call | Cast) and value.place is None and expr.place is not None:
        return replace(made, value=replace(value, place=expr.place))
    if isinstance(value, Window) and value.call.place is None:
        return replace(made, value=replace(value, call=replace(value.call, place=expr.place)))
    return made


def condition(expr: ast.Expr, context: ClauseContext) -> Bound:
    """Bind an expression that is used as a condition: it has no unit."""
    return condition_of(bind(expr, context))


def _number(expr: ast.Number, _: ClauseContext) -> Bound:
    unit = NO_UNIT if expr.unit is None else placed_unit(expr.unit, expr)
    return constant(expr.value, unit, expr.place, integral=expr.is_integer)


def is_unit(text: str) -> bool:
    """Whether a text is a unit."""
    try:
        parse_unit(text)
    except UnitError:
        return False
    return True


def placed_unit(text: str, node: ast.Node) -> Unit:
    """Parse a unit; errors get the place of a node."""
    try:
        return parse_unit(text)
    except UnitError as error:
        raise UnitError(error.message, node.place, hint=error.hint) from None


def _string(expr: ast.String, _: ClauseContext) -> Bound:
    return Bound(Text(expr.text, expr.place), place=expr.place, family="text", type=STRING_LITERAL)


def _constant(expr: ast.Constant, _: ClauseContext) -> Bound:
    if expr.value is None:
        return Bound(NULL, place=expr.place, type=NULL_TYPE)
    return Bound(Boolean(expr.value), place=expr.place, type=BOOLEAN)


def _interval(expr: ast.Interval, context: ClauseContext) -> Bound:
    time_literals.check(expr.text, "INTERVAL", context.env.engine, expr.place)
    value, length = Cast(Text(expr.text), "INTERVAL"), time_literals.length(expr.text)
    return Bound(value, place=expr.place, type=INTERVAL, length=length)


def parameter(expr: ast.Bind, context: ClauseContext) -> Value:
    """Return the value of a bind parameter, or fail."""
    shown = f"?{expr.key}" if isinstance(expr.key, int) else f":{expr.key}"
    if expr.place is not None and expr.place.text.startswith("$"):
        shown = expr.place.text
    params = context.env.params
    if expr.key not in params:
        given = [str(key) for key in params if not str(key).startswith("$")]
        name = str(expr.key).lstrip("$")
        listed = ", ".join(given) or f"none; --param {name}=5ms gives one, or `.param {name}=5ms` at the prompt"
        hint = f"given: {listed}"
        raise BindError(f"no value for the bind parameter `{shown}`", expr.place, hint=hint)
    try:
        return value_of(params[expr.key])
    except TypeError as error:
        raise BindError(
            f"a bind parameter is a number, a time, a string, bytes, a bool or None, found {error}", expr.place
        ) from None


def _bind_parameter(expr: ast.Bind, context: ClauseContext) -> Bound:
    value = parameter(expr, context)
    match value:
        case None | bool():
            return _constant(ast.Constant(value, place=expr.place), context)
        case Quantity():
            return constant(value.value, value.unit, expr.place, integral=value.value.denominator == 1)
        case int() | float() if isinstance(value, int) or isfinite(value):
            made = constant(Fraction(value), NO_UNIT, expr.place, integral=isinstance(value, int))
            negative_zero = isinstance(value, float) and value == 0 and copysign(1, value) < 0
            return operators.unary(ast.Unary("-", expr, place=expr.place), made) if negative_zero else made
        case str():
            return Bound(Text(value), place=expr.place, family="text", type=STRING_LITERAL)
        case _:
            written, kind = _engine_value(value)
            return Bound(written, place=expr.place, type=parse(kind))


def _engine_value(value: float | bytes | Cast) -> tuple[Expression, str]:
    """Write values without literals (infinities, bytes and dates), and return their type."""
    match value:
        case bytes():
            return call("unhex", Text(value.hex())), "BLOB"
        case Cast():
            return value, value.type
        case _:
            return Cast(Text(str(value)), "DOUBLE"), "DOUBLE"


def _column(expr: ast.Column, context: ClauseContext) -> Bound:
    if context.env.macro_arguments:
        found = _parameter_of_macro(expr, context)
        if found is not None:
            return found
    scope = context.aggregated if context.inside_aggregate and context.aggregated is not None else context.scope
    if context.aliases and len(expr.path.parts) <= _LONGEST_ALIAS and _may_be_result(expr, scope, context):
        alias = context.alias(expr.path)
        if alias is not None:
            _refuse_late(expr, alias, context)
            return alias
    if scope is context.scope and context.aggregated is not None:
        _outside_aggregate(expr, context, context.aggregated)
    function = _FUNCTIONS.get(expr.path.text.lower())
    quoted = expr.place is not None and expr.place.text.startswith(('"', "`"))
    if function is not None and not quoted and scope.lookup(expr.path) is None:
        path = ast.Path((ast.Name(function, place=expr.place),), place=expr.place)
        return bind(ast.Call(path, place=expr.place), context)
    return scope.resolve(expr.path)


def _may_be_result(expr: ast.Column, scope: Scope, context: ClauseContext) -> bool:
    """Whether a name that a result column has means that one, and no column of the input."""
    found = scope.find(expr.path)
    return found is None or (
        context.grouped is not None and not context.inside_aggregate and found.value not in context.grouped
    )


def _refuse_late(expr: ast.Column, alias: Bound, context: ClauseContext) -> None:
    """Refuse the name of a result that is known only after a clause, or not for a single row."""
    name = expr.path.text
    if context.inside_aggregate and aggregates(alias):
        raise BindError(f"aggregate `{name}` is nested in another aggregate", expr.place)
    late = any(isinstance(one.value, Window) for one in parts_of([alias]))
    if late and context.clause == WITHIN:
        raise BindError(f"`{name}` is computed over a window, which cannot stand in another", expr.place, hint=FIRST)
    if context.aggregates_allowed:
        return
    if aggregates(alias):
        raise BindError(
            f"`{name}` is an aggregate, and {context.clause} applies to single rows",
            expr.place,
            hint="HAVING filters groups" if context.clause == "WHERE" else None,
        )
    if late and context.clause in ("WHERE", "GROUP BY"):
        raise BindError(
            f"`{name}` is computed over a window, after {context.clause}", expr.place, hint="QUALIFY filters by windows"
        )


def _parameter_of_macro(expr: ast.Column, context: ClauseContext) -> Bound | None:
    """Return the argument for a parameter of a macro, or a member of it; None if the name is no parameter."""
    first, *members = expr.path.parts
    argument = context.env.macro_arguments.get(first.text.lower())
    if argument is None or (members and context.scope.find_table((first.text,)) is not None):
        return None
    if not members:
        return replace(argument.bound(context, bind), place=expr.place)
    operand = ast.Column(ast.Path(expr.path.parts[:-1], place=expr.place), place=expr.place)
    return bind(ast.Member(operand, members[-1], place=expr.place), context)


def _outside_aggregate(expr: ast.Column, context: ClauseContext, inside: Scope) -> None:
    if context.scope.find(expr.path) is None and inside.find(expr.path) is not None:
        raise BindError(
            f"column `{expr.path.text}` varies inside a group",
            expr.place,
            hint=f"put it into an aggregate, such as MAX({expr.path.text})",
        )


def _in_unit(expr: ast.InUnit, context: ClauseContext) -> Bound:
    column = ast.Path((ast.Name(expr.unit, place=expr.unit_place),), place=expr.unit_place)
    if not is_unit(expr.unit) and context.scope.find(column) is not None:
        # A list that goes by a name is one to look in.
        listed = (ast.Column(column, place=expr.unit_place), expr.operand)
        return bind(ast.Call(ast.Path.of("contains"), listed, place=expr.place), context)
    bound = typed(bind(expr.operand, context), context)
    unit = placed_unit(expr.unit, ast.Node(place=expr.unit_place or expr.place))
    if bound.unit == NO_UNIT and bound.type != INTERVAL:
        _refuse_unit(bound, expr)
        return replace(bound, unit=unit, place=expr.place, parts=(bound,))
    return replace(convert(bound, unit, "IN"), place=expr.place, parts=(bound,))


def _refuse_unit(bound: Bound, expr: ast.InUnit) -> None:
    """Refuse a unit for what is surely no number: a text, say, would still be sorted and compared as one."""
    if bound.type is None or counts(bound.type):
        return
    place = expr.operand.place
    written = "x" if place is None or "\n" in place.text else place.text
    hint = f"cast it to a number: CAST({written} AS DOUBLE) IN {expr.unit}" if bound.type.name in _READABLE else None
    if is_date(bound):
        hint = f"how long it is between two is a number: (a - b) IN {expr.unit}"
    raise UnitError(f"IN {expr.unit} takes a number, found {shown(bound.type)}", place or expr.place, hint=hint)


def _case(expr: ast.Case, context: ClauseContext) -> Bound:
    subject = None if expr.operand is None else compared(expr.operand, context)
    tests = [compared(when, context) if subject else condition(when, context) for when, _ in expr.branches]
    if subject is not None:
        subject, *tests = alike(typed_beside_units([subject, *tests], context), "CASE")
    values = [bind(then, context) for _, then in expr.branches]
    if expr.otherwise is not None:
        values.append(bind(expr.otherwise, context))
    values = alike(typed_beside_units(values, context), "CASE")
    branches = tuple((test.value, value.value) for test, value in zip(tests, values, strict=False))
    default = values[-1].value if expr.otherwise is not None else None
    written = Case(branches, default, None if subject is None else subject.value)
    unit = next((v.unit for v in values if v.unit != NO_UNIT), NO_UNIT)
    family = values[0].family if all(v.family == values[0].family for v in values) else None
    parts = (*((subject,) if subject else ()), *tests, *values)
    types = [one.type if subject is None else operators.result_type("=", (subject, one)) for one in tests]
    fit = all(one == BOOLEAN for one in types)
    # The engine brings results to the type of ELSE, one after another.
    *results, otherwise = (
        [one.type for one in values] if expr.otherwise is not None else [*[v.type for v in values], NULL_TYPE]
    )
    chosen = [otherwise, *results]
    made = settled(of_choice(chosen)) if fit else None
    return Bound(written, unit, expr.place, family=family, parts=parts, type=made)


def _cast(expr: ast.Cast, context: ClauseContext) -> Bound:
    bound = bind(expr.operand, context)
    type_name = engine_name(expr.type, None if context.proven else context.env.catalog)
    if isinstance(expr.operand, ast.String) and type_name in time_literals.TYPES and not expr.lenient:
        time_literals.check(expr.operand.text, type_name, context.env.engine, expr.operand.place or expr.place)
    if type_name == INTERVAL.text and _is_number(bound):
        return _interval_of(bound, expr)
    value = bound.value
    if type_name.startswith("DECIMAL") and bound.constant is not None and not bound.integral:
        # A double has 15 to 17 digits.
        value = decimal_literal(bound.constant) or value
    written = Cast(value, type_name, lenient=expr.lenient, place=expr.place)
    made = of_cast(bound.type, type_name)
    unit = bound.unit if may_have_unit(type_name) else NO_UNIT
    return Bound(written, unit, expr.place, family=family_of(type_name), parts=(bound,), type=made)


def _is_number(bound: Bound) -> bool:
    kind = settled(bound.type)
    return bound.unit != NO_UNIT if kind is None else is_numeric(kind.text)


def _interval_of(bound: Bound, expr: ast.Cast) -> Bound:
    """Make an INTERVAL of a time: the engine has no cast from numbers."""
    if not is_time(bound) and not bound.is_zero:
        found = shown(bound.type) if bound.unit == NO_UNIT else f"a number in `{bound.unit}`"
        hint = "give it a unit of time, such as (x IN s)::INTERVAL" if bound.unit == NO_UNIT else None
        raise UnitError(f"a cast to INTERVAL takes a time, found {found}", bound.place or expr.place, hint=hint)
    time = convert(bound, parse_unit("us"), "a cast")
    return replace(as_interval(time, lenient=expr.lenient), place=expr.place, parts=(bound,))


def _collate(expr: ast.Collate, context: ClauseContext) -> Bound:
    bound = bind(expr.operand, context)
    if settled(bound.type) not in (None, VARCHAR, NULL_TYPE):
        raise BindError(f"COLLATE is of a string, found {shown(bound.type)}", expr.operand.place)
    name = expr.collation.text
    if not _COLLATION.fullmatch(name):
        raise BindError(f"found the collation `{name}`, expected words with dots between them", expr.collation.place)
    is_known = bound.type is not None and set(name.upper().split(".")) <= _COLLATIONS
    return Bound(
        Collate(bound.value, name), place=expr.place, family="text", parts=(bound,), type=VARCHAR if is_known else None
    )


def _exists(expr: ast.Exists, context: ClauseContext) -> Bound:
    query = context.subqueries.inline(expr.select, context.scope, context.leaves)
    made = BOOLEAN if query.sure else None
    return Bound(Exists(query.query), place=expr.place, type=made, serial=query.serial)


def _scalar_select(expr: ast.ScalarSelect, context: ClauseContext) -> Bound:
    query = context.subqueries.inline(expr.select, context.scope, context.leaves)
    if len(query.outs) != 1:
        raise BindError(f"a subquery used as a value has one column, found {len(query.outs)}", expr.place)
    out = query.outs[0]
    made = out.type if query.sure else None
    return Bound(Subquery(query.query, expr.place), out.unit, expr.place, type=made, serial=query.serial)


def _in_select(expr: ast.InSelect, context: ClauseContext) -> Bound:
    left = compared(expr.operand, context)
    query = context.subqueries.inline(expr.select, context.scope, context.leaves)
    is_row = isinstance(expr.operand, ast.Row)
    sides = left.parts if is_row else (left,)
    width = len(sides)
    if len(query.outs) != width:
        raise BindError(
            f"the subquery of IN has {width} column{'s' * (width > 1)}, found {len(query.outs)}", expr.place
        )
    typed_sides = [
        one if out.unit == NO_UNIT else typed(one, context) for one, out in zip(sides, query.outs, strict=True)
    ]
    converted = [convert(one, out.unit, "IN") for one, out in zip(typed_sides, query.outs, strict=True)]
    left = with_parts(left, converted) if is_row else converted[0]
    found = InQuery(left.value, query.query)
    fits = all(of_search(one.type, out.type) == BOOLEAN for one, out in zip(converted, query.outs, strict=True))
    made = BOOLEAN if fits and query.sure else None
    written = negated(found) if expr.negated else found
    return Bound(written, place=expr.place, parts=(left,), type=made, serial=query.serial)


def compared(expr: ast.Expr, context: ClauseContext) -> Bound:
    """Bind an expression that is only compared with others, such as a sort key: values in its rows may have units."""
    return nested.compared(expr, context, bind)


def _all_compared(exprs: Sequence[ast.Expr], context: ClauseContext) -> list[Bound]:
    return typed_beside_units([compared(one, context) for one in exprs], context)


def _binary(expr: ast.Binary, context: ClauseContext) -> Bound:
    read = compared if expr.op in COMPARISONS else bind
    left, right = read(expr.left, context), read(expr.right, context)
    if expr.op in ("->", "->>"):
        return nested.arrow(expr, left, right, proven=context.proven)
    warn_of_null(expr, context)
    left, right = typed_beside_units([left, right], context)
    return operators.binary(expr, left, right, context.env.catalog)


def _logical(expr: ast.Logical, context: ClauseContext) -> Bound:
    return operators.logical(expr, [bind(one, context) for one in expr.operands])


def _star(expr: ast.Star, _: ClauseContext) -> Bound:
    raise BindError("`*` stands for columns and cannot be part of an expression", expr.place)


def _columns(expr: ast.Columns, _: ClauseContext) -> Bound:
    raise BindError(
        "COLUMNS is allowed in the select list, in WHERE, and in HAVING, QUALIFY and ORDER BY of a plain SELECT",
        expr.place,
    )


def _chosen(expr: Chosen, _: ClauseContext) -> Bound:
    return cast("Bound", expr.bound)


def _lambda(expr: ast.Lambda, _: ClauseContext) -> Bound:
    raise BindError("a lambda is allowed only in list_transform, list_filter and list_reduce", expr.place)


def _like(expr: ast.Like, context: ClauseContext) -> Bound:
    escape = None if expr.escape is None else bind(expr.escape, context)
    subject, pattern = bind(expr.operand, context), bind(expr.pattern, context)
    proven = context.proven
    if expr.op in operators.SEARCHES and not proven:
        proven = are_read(operators.SEARCHES[expr.op], [subject, pattern], context.env.engine, expr.place)
    return operators.like(expr, subject, pattern, escape, proven=proven)


_FORMS: dict[type[ast.Expr], Callable[..., Bound]] = {
    ast.Number: _number,
    ast.String: _string,
    ast.Constant: _constant,
    ast.Interval: _interval,
    ast.Bind: _bind_parameter,
    ast.Column: _column,
    ast.Star: _star,
    ast.Columns: _columns,
    Chosen: _chosen,
    ast.Unary: lambda e, c: operators.unary(e, bind(e.operand, c)),
    ast.Binary: _binary,
    ast.Logical: _logical,
    ast.Like: _like,
    ast.Truth: lambda e, c: operators.truth(e, bind(e.operand, c)),
    ast.Between: lambda e, c: operators.between(e, _all_compared([e.operand, e.low, e.high], c), c.env.catalog),
    ast.InList: lambda e, c: operators.in_list(e, _all_compared([e.operand, *e.items], c), c.env.catalog),
    ast.InSelect: _in_select,
    ast.Quantified: lambda e, c: quantified(e, c, bind),
    ast.InUnit: _in_unit,
    ast.Case: _case,
    ast.Cast: _cast,
    ast.Collate: _collate,
    ast.Exists: _exists,
    ast.ScalarSelect: _scalar_select,
    ast.Row: lambda e, c: nested.row(e, c, bind),
    ast.List: lambda e, c: nested.list_(e, c, bind),
    ast.Struct: lambda e, c: nested.struct(e, c, bind),
    ast.Map: lambda e, c: nested.map_(e, c, bind),
    ast.Lambda: _lambda,
    ast.Index: lambda e, c: nested.index(e, c, bind),
    ast.Slice: lambda e, c: nested.slice_(e, c, bind),
    ast.Member: lambda e, c: nested.member(e, c, bind),
    ast.Call: lambda e, c: calls.call(e, c, bind),
}
