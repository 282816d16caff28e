"""Bind calls of scalar, aggregate and window functions: unit rules, FILTER, OVER."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from dctv.bind import aggregate_states, lambdas, macros, nested, sparklines, state_paths
from dctv.bind.alike import alike
from dctv.bind.asked_types import typed, typed_beside_units
from dctv.bind.bound import Bound, Family, need_bare, scale
from dctv.bind.conditions import check_truth, condition_of
from dctv.bind.context import ClauseContext
from dctv.bind.grouping import parts_of
from dctv.bind.null_treatment import with_own_nulls
from dctv.bind.other_tools import ELSEWHERE
from dctv.bind.regular_expressions import are_read
from dctv.bind.types import BIGINT, BOOLEAN, DOUBLE_LITERAL, HUGEINT, of_call, of_operator, settled
from dctv.bind.unnesting import refuse_part, takes_unnest
from dctv.bind.wall_clock import wall_clock
from dctv.bind.windows import FIRST, WITHIN, ordered, refuse_constant, window
from dctv.catalog.namespace import Macro, WallClock
from dctv.contracts.engine import EXACT_ON_INTEGERS, ORDER_FREE
from dctv.errors import BindError, Place, UnitError, nearest
from dctv.plan import build as w
from dctv.plan.expressions import (
    Binary,
    Call,
    Case,
    Expression,
    Keyword,
    List,
    Number,
    Star,
)
from dctv.record import replace
from dctv.signatures.types import Type, list_of
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.schema import DURATION
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.unit_rules import UnitRule, raised, result_unit
from dctv.types.units import multiply, parse_unit
from dctv.types.values import fits_int64, is_float, is_type

Bind = Callable[[ast.Expr, ClauseContext], Bound]

_ALIKE = {"coalesce", "greatest", "least", "ifnull", "nullif"}
"""Functions that compare their arguments, or return any of them."""
_SAME_TYPE = {"sum", "min", "max", "abs", "any_value", "first", "last", "lag", "lead"}
"""Functions whose result is an integer where their first argument is."""
_COUNTS: dict[str, Family] = {"count": "integer", "row_number": "integer", "rank": "integer", "avg": "float"}
_WRITTEN: Mapping[str, Callable[[str, Sequence[Bound], ast.Call], Bound]] = {
    **dict.fromkeys(state_paths.FUNCTIONS, state_paths.path_call),
    **dict.fromkeys(aggregate_states.FUNCTIONS, aggregate_states.state_call),
    **dict.fromkeys(sparklines.FUNCTIONS, sparklines.sparkline_call),
}
"""Functions that are written with others, or whose types are known from those of their arguments."""
_CONTAINING = {"LIST": "list_contains", "ARRAY": "list_contains", "MAP": "map_contains"}
_WITHOUT_WINDOWS = {
    **dict.fromkeys(("WHERE", "HAVING"), "QUALIFY filters by it"),
    WITHIN: FIRST,
}
"""Hints for clauses that take no window functions."""


def call(expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound:
    """Bind one call."""
    made = _of_the_session(expr, context, bind)
    if made is not None:
        return made
    name = expr.function.text.lower()
    kind = _kind(name, expr, context)
    _check_form(name, expr, kind)
    aggregate = kind == "aggregate" and expr.over is None
    if aggregate or expr.over is not None:
        expr = with_own_nulls(expr)
    _check_place(name, expr, context, aggregate=aggregate)
    inner = replace(context, inside_aggregate=True) if aggregate else context
    if name in lambdas.FUNCTIONS:
        return lambdas.lambda_call(name, expr, context, bind)
    if name in _EXPANDED:
        return _EXPANDED[name](name, expr, inner, bind)
    arguments = [_argument(a, name, inner, bind) for a in expr.arguments]
    if name == "contains":
        name = _containing(arguments)
    if name in _ALIKE:
        arguments = alike(typed_beside_units(arguments, context), f"`{name}`")
    unit, arguments = _apply_rule(name, expr, arguments, context)
    if name == "unnest":
        refuse_part(expr, arguments)
    if name == "unitless":
        _check_number(name, expr, 1)
        return replace(arguments[0], unit=NO_UNIT, place=expr.place, parts=(arguments[0],))
    if name in _WRITTEN:
        return _WRITTEN[name](name, arguments, expr)
    return _engine_call(name, expr, arguments, (unit, context, inner), bind)


def _of_the_session(expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound | None:
    """Bind a call of a macro, of a trace's clock, or with a dot; None for functions that every session has."""
    macro = macros.macro_of(expr.function, context)
    if macro is not None:
        return macros.expand(macro, expr, context, bind)
    if len(expr.function.parts) == 1:
        return None
    chained = _chained(expr, context, bind)
    if chained is not None:
        return chained
    found = context.env.catalog.find(tuple(p.text for p in expr.function.parts))
    if found is not None and isinstance(found[0], WallClock):
        return wall_clock(found[0], expr, context, bind)
    if found is not None:
        raise BindError(f"`{expr.function.text}` is a table-valued function, which belongs in FROM", expr.place)
    raise context.env.catalog.unknown(expr.function, "function")


def _chained(expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound | None:
    """Bind `x.f(y)` as f(x, y) where `x` is a column; None where it is none."""
    parts, place = expr.function.parts, expr.function.place
    column = ast.Column(ast.Path(parts[:-1], place=place), place=place)
    if context.scope.find(column.path) is None and context.alias(column.path) is None:
        return None
    function = ast.Path(parts[-1:], place=place)
    return bind(replace(expr, function=function, arguments=(column, *expr.arguments)), context)


def _engine_call(
    name: str, expr: ast.Call, arguments: list[Bound], about: tuple[Unit, ClauseContext, ClauseContext], bind: Bind
) -> Bound:
    """Write a call of a function of the engine; `about` is its unit, its context and that of its arguments."""
    unit, context, inner = about
    aggregate = inner is not context
    if name == aggregate_states.COMBINE_ALL:
        aggregate_states.refuse_others(arguments[:1], name)
    if aggregate:
        arguments[1:] = [_setting(a, e) for a, e in zip(arguments[1:], expr.arguments[1:], strict=True)]
    terms = [nested.compared(term.expr, inner, bind) for term in expr.order_by]
    for term in terms:
        refuse_constant(term, whole=False)
    written = _invoke(name, expr, arguments, terms, inner, bind)
    test = None if expr.filter is None else condition_of(bind(expr.filter, inner))
    if written.nulls is not None and not (expr.over is not None and _is_of_windows(name, context)):
        written = _without_nulls(written, expr, aggregate=aggregate or expr.over is not None)
    written = _filtered(written, test, inner, aggregate=aggregate)
    value: Expression = written
    parts = (*arguments, *terms, *(() if test is None else (test,)))
    made = None if expr.keywords else _type(name, arguments, context, expr.place)
    if any(one.type is None for one in terms) or (test is not None and test.type != BOOLEAN):
        made = None
    if name == "unnest" and (expr.over or not takes_unnest(context)):
        made = None
    if expr.over is not None:
        over = window(expr.over, context, bind)
        value, by = over.over(written), over.parts
        made = made if all(one.type is not None for one in by) else None
        parts = (*parts, *by)
    if (name == "unnest" or expr.over is not None) and any(map(_is_unnest, parts_of(parts))):
        made = None
    family = arguments[0].family if arguments and name in _SAME_TYPE else _COUNTS.get(name)
    serial = expr.over is not None or (aggregate and _meets_rows_in_order(name, arguments))
    bound = Bound(value, unit, expr.place, family=family, parts=parts, type=made, aggregate=aggregate, serial=serial)
    return aggregate_states.exported(bound, arguments, terms, context) if expr.exported else bound


def _is_unnest(bound: Bound) -> bool:
    return isinstance(bound.value, Call) and bound.value.function == "unnest"


def _type(name: str, arguments: Sequence[Bound], context: ClauseContext, place: Place | None) -> Type | None:
    if name == "count" and all(isinstance(one.value, Star) for one in arguments):
        return BIGINT
    proven = context.proven or are_read(name, arguments, context.env.engine, place)
    return of_call(name, [one.type for one in arguments], proven=proven)


def _containing(arguments: Sequence[Bound]) -> str:
    """Return the function for `contains(y, x)`, which `x IN y` is parsed as: the type of `y` tells which it is."""
    made = settled(arguments[0].type) if arguments else None
    return _CONTAINING.get("" if made is None else made.name, "contains")


def _meets_rows_in_order(name: str, arguments: Sequence[Bound]) -> bool:
    """Whether an aggregate's value depends on the order of its rows."""
    if name in EXACT_ON_INTEGERS:
        return any(one.type is None or is_float(one.type.name) for one in arguments)
    return name not in ORDER_FREE


def _kind(name: str, expr: ast.Call, context: ClauseContext) -> str:
    rule = context.env.rules.get(name)
    if rule is not None:
        return str(rule.kind)
    functions = context.env.engine.functions()
    if name not in functions:
        refused = context.env.engine.refusal(name)
        if refused is not None:
            raise BindError(refused.message, expr.function.place or expr.place, hint=refused.hint)
        own = [".".join(made) for made, entry in context.env.catalog.root.walk() if isinstance(entry, Macro)]
        near = nearest(name, [*functions, *context.env.rules, *own])
        cast = f"`x::{name.upper()}` casts" if is_type(name) else None
        hint = ELSEWHERE.get(name) or cast or (f"did you mean `{near}`?" if near else None)
        raise BindError(f"unknown function `{expr.function.text}`", expr.function.place or expr.place, hint=hint)
    return functions[name]


def _check_form(name: str, expr: ast.Call, kind: str) -> None:
    """Check that a window function has OVER, DISTINCT values, and a scalar function nothing about several rows."""
    star = next((one for one in expr.arguments if expr.distinct and isinstance(one, ast.Star)), None)
    if star is not None:
        hint = "distinct rows are those of a select: FROM (SELECT DISTINCT * FROM ...)"
        raise BindError("DISTINCT takes values, found `*`", star.place or expr.place, hint=hint)
    if kind == "window" and expr.over is None:
        hint = f"say over which rows: {name}(...) OVER (PARTITION BY ... ORDER BY _ts)"
        raise BindError(f"`{name}` is a window function, it needs OVER (...)", expr.place, hint=hint)
    aggregates = expr.over is not None or expr.filter is not None or expr.distinct or expr.order_by
    if kind == "scalar" and aggregates and name not in _WRITTEN:  # these say it in their own way
        hint = f"it computes a value of one row: `{name}(...)` stands alone"
        raise BindError(f"`{name}` is neither a window function nor an aggregate", expr.place, hint=hint)


def _check_place(name: str, expr: ast.Call, context: ClauseContext, *, aggregate: bool) -> None:
    if expr.exported:
        aggregate_states.check(expr, aggregate=aggregate)
    if expr.over is not None and context.inside_aggregate:
        raise BindError("a window function cannot stand in an aggregate", expr.place, hint=FIRST)
    if not aggregate:
        if expr.over is not None and context.clause in ("WHERE", "HAVING", "GROUP BY", "ON", WITHIN):
            hint = _WITHOUT_WINDOWS.get(context.clause)
            raise BindError(f"a window function cannot stand in {context.clause}", expr.place, hint=hint)
        if context.present is not None and expr.over is not None:
            raise BindError("a span group has no window functions", expr.place, hint="select from its result")
        return
    if context.inside_aggregate:
        hint = "aggregate in a select of its own first: FROM (SELECT ... AS x ... GROUP BY ...)"
        raise BindError(f"aggregate `{name}` is nested in another aggregate", expr.place, hint=hint)
    if not context.aggregates_allowed:
        hint = _hint(expr, context)
        raise BindError(f"aggregate `{name}` cannot stand in {context.clause}", expr.place, hint=hint)


def _hint(expr: ast.Call, context: ClauseContext) -> str:
    if context.clause == "GROUP BY" or _is_of_outer_rows(expr, context):
        return "aggregate in a select of its own first: FROM (SELECT ... AS x ... GROUP BY ...)"
    if context.clause == "WHERE":
        return "HAVING filters groups"
    if context.clause == "a lambda":
        return "list_sum(x) and the like sum up a list"
    return "give the select a GROUP USING PARTITION or GROUP USING SPANS FROM"


def _is_of_outer_rows(expr: ast.Call, context: ClauseContext) -> bool:
    """Whether all columns of an aggregate are those of a select further out."""
    columns = [one.path for one in nodes(expr) if isinstance(one, ast.Column)]
    is_within = context.scope.parent is not None and bool(columns)
    return is_within and all(context.scope.find(one) is None for one in columns)


def _argument(expr: ast.Expr, function: str, context: ClauseContext, bind: Bind) -> Bound:
    if isinstance(expr, ast.Star):
        if expr != ast.Star():
            raise BindError(
                "the argument `*` stands for a whole row and takes no modifiers",
                expr.place,
                hint="COLUMNS(...) is a call for each of some columns, *COLUMNS(...) gives them to one call",
            )
        return Bound(Star(), place=expr.place)
    rule = context.env.rules.get(function)
    if rule is not None and rule.rule is UnitRule.NONE:
        return nested.compared(expr, context, bind)  # such as count(DISTINCT (a, b))
    return bind(expr, context)


def _apply_rule(name: str, expr: ast.Call, arguments: list[Bound], context: ClauseContext) -> tuple[Unit, list[Bound]]:
    """Return the result's unit, and the arguments converted to the units that the function takes."""
    rule = context.env.rules.get(name)
    units = [None if a.fits_all or isinstance(a.value, Star) else a.unit for a in arguments]
    try:
        kind = UnitRule.BARE if rule is None else rule.rule
        if kind is UnitRule.POWER and len(arguments) == 2 and _may_raise(arguments):
            unit, factor = raised(arguments[0].unit, arguments[1].constant or Fraction(0))
            return unit, [scale(arguments[0], factor, arguments[0].unit), arguments[1]]
        if kind is UnitRule.CHOOSE and arguments:
            check_truth(arguments[0])
        unit, factors = result_unit(kind, units, _called(name, expr))
    except UnitError as error:
        guilty = next((a.place for a in arguments if a.unit != NO_UNIT), None)
        raise UnitError(error.message, guilty or expr.place, hint=error.hint) from None
    scaled = (scale(a if f == 1 else typed(a, context), f, a.unit) for a, f in zip(arguments, factors, strict=True))
    return unit, list(scaled)


def _called(name: str, expr: ast.Call) -> str:
    """Return what a user calls a function: `x IN list` and `contains` are one of the engine's, by type."""
    if expr.function.text.lower() != "contains":
        return name
    return "IN" if expr.function.place == expr.place else "contains"


def _may_raise(arguments: Sequence[Bound]) -> bool:
    """Whether a quantity is raised to a literal number, of which its unit has a power."""
    exponent = arguments[1].constant
    return arguments[0].unit != NO_UNIT and arguments[1].unit == NO_UNIT and exponent is not None


def _setting(bound: Bound, expr: ast.Expr) -> Bound:
    """Write a fraction that sets an aggregate, as in approx_quantile(x, 0.5), as decimal: some take no double."""
    if isinstance(expr, ast.Number) and not expr.is_integer and expr.unit is None:
        made = DOUBLE_LITERAL if 0 <= expr.value <= 1 else None
        return replace(bound, value=Number(expr.text), type=made)
    if isinstance(expr, ast.List) and expr.items and all(_is_bare_number(item) for item in expr.items):
        items = [_setting(part, item) for part, item in zip(bound.parts, expr.items, strict=True)]
        shares = all(one.type == DOUBLE_LITERAL or one.constant in (0, 1) for one in items)
        return replace(
            bound,
            value=List(tuple(one.value for one in items)),
            type=list_of(DOUBLE_LITERAL) if shares else bound.type,
        )
    return bound


def _is_bare_number(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Number) and expr.unit is None


def _invoke(
    name: str, expr: ast.Call, arguments: list[Bound], terms: list[Bound], context: ClauseContext, bind: Bind
) -> Call:
    """Write the call itself, with DISTINCT, ORDER BY, keywords and IGNORE NULLS inside."""
    values = [a.value for a in arguments]
    named = [(key.text, bind(value, context)) for key, value in expr.keywords]
    for _, one in named:
        need_bare(one, f"a named argument of `{name}`")
    values += [Keyword(key, one.value) for key, one in named]
    by = tuple(ordered(one.value, term) for one, term in zip(terms, expr.order_by, strict=True))
    # All rows are counted, whatever the text says of NULLs.
    all_rows = (name, values) == ("count", [Star()]) and not expr.distinct and not by
    return Call(name, tuple(values), expr.distinct, by, nulls=None if all_rows else expr.nulls)


def _filtered(written: Call, test: Bound | None, context: ClauseContext, *, aggregate: bool) -> Call:
    """Add FILTER: the user's, and in a span group that only pieces count."""
    tests = [context.present] if aggregate and context.present is not None else []
    if test is not None:
        tests.append(test.value)
    return replace(written, filter=w.all_of([*([] if written.filter is None else [written.filter]), *tests]))


def _is_of_windows(name: str, context: ClauseContext) -> bool:
    """Whether the engine evaluates a function over a window by itself, with IGNORE NULLS."""
    rule = context.env.rules.get(name)
    return name in ("first", "last") or (rule is not None and rule.kind == "window")


def _without_nulls(written: Call, expr: ast.Call, *, aggregate: bool) -> Call:
    """Write IGNORE NULLS of an aggregate as a filter: the engine knows it of window functions only."""
    if not aggregate:
        raise BindError(f"`{expr.nulls} NULLS` is for aggregates and window functions", expr.place)
    tests = (w.is_not_null(written.arguments[0]),) if expr.nulls == "IGNORE" and written.arguments else ()
    return replace(written, nulls=None, filter=w.all_of(tests))


def _check_number(name: str, expr: ast.Call, wanted: int) -> None:
    """Check how many arguments a call has.

    Raises:
        BindError: it has more, or fewer.
    """
    if len(expr.arguments) != wanted:
        takes = "one argument" if wanted == 1 else f"{wanted} arguments"
        raise BindError(f"`{name}` takes {takes}, found {len(expr.arguments)}", expr.place)


def _divided(name: str, expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound:
    """Bind divide(x, y) as x // y, whose quotient is whole for all types and units."""
    _check_number(name, expr, 2)
    return bind(ast.Binary("//", *expr.arguments, place=expr.place), context)


def _weighted(name: str, expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound:
    """Expand time_avg(x) and time_sum(x): weigh every piece by its duration."""
    _check_number(name, expr, 1)
    value = bind(expr.arguments[0], context)
    path = ast.Path((ast.Name(DURATION),), place=expr.place)
    scope = context.aggregated or context.scope
    if scope.find(path) is None:
        raise BindError(f"`{name}` weighs by `_duration`, and there is none here", expr.place)
    weight = bind(ast.Column(path, place=expr.place), context)
    test = None if expr.filter is None else condition_of(bind(expr.filter, context))
    kind = settled(value.type)
    wide = kind is not None and fits_int64(kind.name)
    # 64 bits do not hold 16 GB for a second.
    product = (w.wide_product if wide else w.times)(value.value, weight.value)
    total = _filtered(w.call("sum", product), test, context, aggregate=True)
    made = of_operator("*", HUGEINT if wide else value.type, weight.type)
    serial = made is None or is_float(made.name)
    made = of_call("sum", [made]) if test is None or test.type == BOOLEAN else None
    parts = (value,) if test is None else (value, test)
    if name == "time_sum":
        unit, factor = multiply(value.unit, parse_unit("ns"))
        summed = Bound(total, unit, expr.place, parts=parts, type=made, aggregate=True, serial=serial)
        return scale(summed, factor, unit)
    weights = _filtered(w.call("sum", duration_with_value(value.value, weight.value)), test, context, aggregate=True)
    made = of_operator("/", made, of_call("sum", [weight.type]))
    mean = Binary("/", total, weights)
    return Bound(mean, value.unit, expr.place, parts=parts, type=made, aggregate=True, serial=serial)


def duration_with_value(value: Expression, duration: Expression) -> Case:
    """Return the duration of a piece that has a value."""
    return w.case((w.is_not_null(value), duration))


_EXPANDED: Mapping[str, Callable[[str, ast.Call, ClauseContext, Bind], Bound]] = {
    **dict.fromkeys(("time_avg", "time_sum"), _weighted),
    "divide": _divided,
}
"""Functions that are bound as other expressions."""
