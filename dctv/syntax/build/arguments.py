"""The contents of the parentheses of a call, until the call is made."""

from __future__ import annotations

from dctv.record import record
from dctv.syntax import ast


@record
class KeywordArgument(ast.Node):
    """`name => value`, until the call that it belongs to is made."""

    name: ast.Name
    value: ast.Expr


@record
class Arguments(ast.Node):
    """The contents of the parentheses of a call."""

    distinct: bool = False
    items: tuple[ast.Expr | KeywordArgument, ...] = ()
    order_by: tuple[ast.OrderTerm, ...] = ()
    nulls: str = ""
    """`IGNORE NULLS` inside the parentheses, which is valid, too."""
    words: str = ""
    """The word between them, if it is not a comma."""
