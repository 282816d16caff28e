"""A query of the engine -> its parts in no order, and a text that only queries of the same meaning share."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

LEAVES = frozenset({type(None), bool, str, exp.Identifier})
"""What most arguments of nodes are that have no nodes within; half of all nodes are identifiers."""
_WORDS = frozenset({exp.Identifier, exp.Literal})


def nodes_of(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield an expression and all within it but identifiers, in no order.

    This is faster than its own walk, which unions of thousands need.
    """
    stack: list[exp.Expr] = [tree]
    while stack:
        node = stack.pop()
        yield node
        for value in node.args.values():
            if type(value) in LEAVES:
                continue
            if isinstance(value, exp.Expr):
                stack.append(value)
            elif type(value) is list:
                stack += [one for one in value if isinstance(one, exp.Expr)]


def shape(tree: exp.Expr) -> str:
    """Return a text that two expressions have in common only if they are the same: writing SQL takes far longer.

    Each node is its class, the names of its parts and then these, so no text can be read in two ways.
    """
    parts: list[str] = []
    stack: list[object] = [tree]
    while stack:
        one = stack.pop()
        if isinstance(one, exp.Expr):
            args = one.args
            if type(one) in _WORDS:
                parts.append(repr((type(one).__name__, [*args.items()])))
                continue
            names = sorted([k for k, v in args.items() if v is not None and v is not False and not _is_empty(v)])
            parts.append(f"{type(one).__name__}({','.join(names)})")
            stack += [args[name] for name in names]
        elif type(one) is list:
            parts.append(f"[{len(one)}]")
            stack += one
        else:
            parts.append(repr(one))
    return " ".join(parts)


def _is_empty(value: object) -> bool:
    return type(value) is list and not value
