"""Helpers of the functions that write nodes: names, lists, parentheses, and dispatch by node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax import ast
from dctv.syntax.keywords import RESERVED
from dctv.syntax.write.levels import level

Form: TypeAlias = Callable[["NodeWriter", Any], str]

_BARE = pattern(r"[^\W\d]\w*")
_ALSO_QUOTED = frozenset(
    {"ANY", "ARRAY", "BOTH", "COLLATE", "COLUMNS", "EXTRACT", "FETCH", "LATERAL", "LEADING", "ORDINALITY"}
    | {"PIVOT", "PLACING", "TABLE", "TRAILING", "UNPIVOT"}
    | {"CAST", "CUBE", "CURRENT", "GROUPS", "IF", "RANGE", "RECURSIVE", "ROLLUP", "ROWS", "TRY_CAST", "UNBOUNDED"}
)
_QUOTED_IN_WINDOWS = frozenset({"PARTITION"})


@record
class NodeWriter:
    """A writer of nodes as text that parses to the same nodes, or as a header."""

    forms: dict[type[ast.Node], Form]
    header: bool = False
    """Whether to leave out units and quotes and to put every infix operator in parentheses."""

    def write(self, node: ast.Node) -> str:
        """Write a node without parentheses around it."""
        if self.header and isinstance(node, ast.Expr) and node.written is not None:
            pieces = node.written.pieces
            return "".join(one if isinstance(one, str) else self.list((one,)) for one in pieces)
        return self.forms[type(node)](self, node)

    def expr(self, node: ast.Expr, least: int = 0) -> str:
        """Write an expression, in parentheses where it binds less tightly than its surroundings need."""
        text = self.write(node)
        always = self.header and isinstance(node, ast.Binary | ast.Logical)
        return f"({text})" if always or level(node) < least else text

    def list(self, nodes: Iterable[ast.Node]) -> str:
        """Write nodes with commas between them."""
        return ", ".join(self.expr(n) if isinstance(n, ast.Expr) else self.write(n) for n in nodes)

    def name(self, name: ast.Name) -> str:
        """Write a name, quoted where it has to be."""
        return name.text if self.header else quote(name.text)

    def window_name(self, name: ast.Name) -> str:
        """Write the name of a window where its definition may begin instead."""
        return f"`{name.text}`" if name.text.upper() in _QUOTED_IN_WINDOWS else self.name(name)

    def names(self, names: Sequence[ast.Name]) -> str:
        """Write names in parentheses, with a blank before them, or nothing."""
        return f" ({', '.join(map(self.name, names))})" if names else ""

    def path(self, path: ast.Path) -> str:
        """Write a dotted name."""
        return ".".join(map(self.name, path.parts))

    def clause(self, keyword: str, node: ast.Node | None) -> str:
        """Write a keyword and a node, with a blank before them, or nothing."""
        if node is None:
            return ""
        return f" {keyword} {self.expr(node) if isinstance(node, ast.Expr) else self.write(node)}"

    def clauses(self, keyword: str, nodes: Sequence[ast.Node]) -> str:
        """Write a keyword and a list, with a blank before them, or nothing."""
        return f" {keyword} {self.list(nodes)}" if nodes else ""


def quote(name: str) -> str:
    """Return a name as text, in backticks where it is not a plain word."""
    if _BARE.fullmatch(name) and name.upper() not in RESERVED | _ALSO_QUOTED:
        return name
    return backticks(name)


def dotted(parts: Sequence[str]) -> str:
    """Return a name of several parts as text; keywords after a dot need no quotes."""
    first, *rest = parts
    return ".".join((quote(first), *(one if _BARE.fullmatch(one) else backticks(one) for one in rest)))


def backticks(text: str) -> str:
    """Return a text in backticks."""
    return "`" + text.replace("`", "``") + "`"


def string(text: str) -> str:
    """Return a text as a string literal."""
    return "'" + text.replace("'", "''") + "'"
