"""What stands between the parentheses of a call, until the call is made."""

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
    """What stands between the parentheses of a call."""

    distinct: bool = False
    items: tuple[ast.Expr | KeywordArgument, ...] = ()
    order_by: tuple[ast.OrderTerm, ...] = ()
    nulls: str = ""
    """`IGNORE NULLS` may stand inside of the parentheses too."""
    words: str = ""
    """The word that stands between them where no comma does."""
