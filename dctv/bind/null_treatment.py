"""Give IGNORE NULLS at the end of a call's arguments to that call.

It may also follow a call, so the parser gives it to one that ends there.
"""

from __future__ import annotations

from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.node import nodes, replaced


def with_own_nulls(expr: ast.Call) -> ast.Call:
    """Return a call of an aggregate or over a window with the IGNORE NULLS or RESPECT NULLS that ends its arguments.

    In `first(f(x) IGNORE NULLS)` the parser gives the words to `f`.
    """
    inner = None if expr.nulls is not None else _last_with_nulls(expr)
    if inner is None:
        return expr
    return replace(replaced(expr, inner, replace(inner, nulls=None)), nulls=inner.nulls)


def _last_with_nulls(expr: ast.Call) -> ast.Call | None:
    """Return the call with these words at the end of the parentheses of another one."""
    values = (*expr.arguments, *(value for _, value in expr.keywords), *(term.expr for term in expr.order_by))
    if not values or values[-1].place is None:
        return None
    stop = values[-1].place.stop
    calls = (one for one in nodes(values[-1]) if isinstance(one, ast.Call) and one.nulls is not None)
    return next((one for one in calls if one.over is None and one.place is not None and one.place.stop == stop), None)
