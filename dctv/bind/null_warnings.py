"""Warn of comparisons with a literal NULL, such as `comm = NULL`, since none of them is ever true."""

from __future__ import annotations

from dctv.bind.context import ClauseContext
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.syntax.print import to_sql

_INSTEAD = {"=": "IS NULL", "!=": "IS NOT NULL"}
_ORDERS = ("<", "<=", ">", ">=")


def warn_of_null(expr: ast.Binary, context: ClauseContext) -> None:
    """Warn of comparisons such as `x = NULL`, with the likely intent as hint."""
    if expr.op not in _INSTEAD and expr.op not in _ORDERS:
        return
    other = expr.left if _is_null(expr.right) else expr.right if _is_null(expr.left) else None
    # Names of ours stand for what ANY and ALL compare with: such a NULL is one value of several.
    if other is None or any(isinstance(node, ast.Name) and node.text.startswith("dctv:") for node in nodes(other)):
        return
    written = "<>" if expr.op == "!=" else expr.op
    instead = f": write `{to_sql(other)} {_INSTEAD[expr.op]}`" if expr.op in _INSTEAD else ""
    context.env.warnings.entries[f"nothing compares with NULL, `{written} NULL` is never true{instead}"] = 1


def _is_null(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is None
