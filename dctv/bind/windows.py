"""Bind windows: those after OVER, and those that WINDOW names, which stand in full wherever their names do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dctv.bind import nested
from dctv.bind.bound import Bound, convert
from dctv.bind.context import BoundWindow, ClauseContext
from dctv.contracts.engine import VOLATILE
from dctv.errors import BindError, nearest
from dctv.plan import walk
from dctv.plan.expressions import Boolean, Call, Expression, Frame, FrameEnd, Null, Number, Ordered, Text, Unary
from dctv.record import replace
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT, Unit

Bind = Callable[[ast.Expr, ClauseContext], Bound]

WITHIN = "a window"
"""The clause that its expressions are in."""
FIRST = "compute it in a subquery first: FROM (SELECT *, ... AS x FROM ...)"
"""The hint for window functions in there."""


def ordered(value: Expression, term: ast.OrderTerm) -> Ordered:
    """Write one term of an ORDER BY; NULLs come last unless the text says otherwise."""
    return Ordered(value, term.descending, term.nulls == "FIRST")


def refuse_constant(bound: Bound, *, whole: bool = True) -> None:
    """Refuse a literal in ORDER BY: it orders nothing, and the engine refuses it or takes it for a column's number.

    Without `whole`, whole numbers pass: inside a call they are no columns.

    Raises:
        BindError: it is one.
    """
    value = bound.value.operand if isinstance(bound.value, Unary) else bound.value
    is_whole = isinstance(value, Number) and value.text.isdigit()
    if isinstance(value, Number | Text | Boolean | Null) and (whole or not is_whole):
        hint = "a name stands without quotes, or in double ones" if isinstance(value, Text) else None
        raise BindError("a constant orders nothing, expected a column or an expression", bound.place, hint=hint)


def window(over: ast.Window | ast.Name, context: ClauseContext, bind: Bind) -> BoundWindow:
    """Bind a window after OVER or in WINDOW, with what it takes over from one that it names.

    Raises:
        BindError: it names an unknown window, or changes what that has already.
    """
    if isinstance(over, ast.Name):
        return _named(over, context)
    base = BoundWindow() if over.base is None else _extended(over.base, over, context)
    context = replace(context, clause=WITHIN)
    partition_by = tuple(_key(one, context, bind) for one in over.partition_by)
    order_by = tuple(_key(term.expr, context, bind) for term in over.order_by)
    terms = tuple(ordered(one.value, term) for one, term in zip(order_by, over.order_by, strict=True))
    made = BoundWindow(base.partition_by + partition_by, base.order_by + order_by, base.terms + terms)
    if over.frame is None:
        return made
    frame, offsets = _frame(over.frame, made.order_by, context, bind)
    return replace(made, frame=frame, offsets=tuple(offsets))


def _key(expr: ast.Expr, context: ClauseContext, bind: Bind) -> Bound:
    """Bind a key of PARTITION BY or ORDER BY."""
    key = nested.compared(expr, context, bind)
    for node in walk.walk(key.value):
        if isinstance(node, Call) and node.function.lower() in VOLATILE:
            message = "the rows of a window cannot be sorted or partitioned by a value that changes with every call"
            raise BindError(message, expr.place, hint=FIRST)
        if isinstance(node, Call) and node.function.lower() == "error":
            raise BindError("`error` cannot stand in PARTITION BY or ORDER BY of a window", expr.place, hint=FIRST)
    return key


def _named(name: ast.Name, context: ClauseContext) -> BoundWindow:
    found = context.windows.get(name.text.lower())
    if found is None:
        near = nearest(name.text, list(context.windows))
        hint = f"did you mean `{near}`?" if near else f"WINDOW {name.text} AS (...) after FROM defines one"
        raise BindError(f"unknown window `{name.text}`", name.place, hint=hint)
    return found


def _extended(name: ast.Name, over: ast.Window, context: ClauseContext) -> BoundWindow:
    base = _named(name, context)
    repeated = [("PARTITION BY", base.partition_by, over.partition_by), ("ORDER BY", base.order_by, over.order_by)]
    for clause, given, more in repeated:
        if given and more:
            raise BindError(f"the window `{name.text}` has its {clause} already", name.place)
    if base.frame is not None:
        hint = f"OVER {name.text} without parentheses takes it as it is"
        raise BindError(f"the window `{name.text}` has a frame, so no other is made of it", name.place, hint=hint)
    return base


def _frame(
    frame: ast.Frame, order_by: Sequence[Bound], context: ClauseContext, bind: Bind
) -> tuple[Frame, list[Bound]]:
    unit = NO_UNIT
    if frame.unit == "RANGE" and len(order_by) == 1:
        unit = order_by[0].unit
    start, begin = _end(frame.start, unit, context, bind)
    stop, end = _end(frame.stop, unit, context, bind) if frame.stop else (FrameEnd("CURRENT ROW"), None)
    offsets = [one for one in (begin, end) if one is not None]
    if frame.unit == "RANGE":
        # What may be added to which type of ORDER BY is left to the engine.
        offsets = [replace(one, type=None) for one in offsets]
    return Frame(frame.unit, start, stop, frame.exclude), offsets


def _end(end: ast.Bound, unit: Unit, context: ClauseContext, bind: Bind) -> tuple[FrameEnd, Bound | None]:
    """Return one end of a frame, and its offset."""
    if end.offset is None:
        return FrameEnd(end.kind), None
    offset = convert(bind(end.offset, context), unit, "the window frame")
    return FrameEnd(end.kind, offset.value), offset
