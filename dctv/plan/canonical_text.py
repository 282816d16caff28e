"""Write a query as a text that only queries of the same meaning share."""

from __future__ import annotations

from dctv.plan.node import Node
from dctv.record import fields


def shape(node: Node) -> str:
    """Return a text that two nodes have in common only if they are the same.

    Each node is its class and then its fields, and each list its length, so no text can be read in two ways. Nodes may
    nest deeper than a stack is, so nothing here recurses.
    """
    parts: list[str] = []
    stack: list[object] = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, Node):
            parts.append(type(one).__name__)
            stack += [getattr(one, part.name) for part in fields(type(one)) if part.compare]
        elif type(one) is tuple:
            parts.append(f"[{len(one)}]")
            stack += one
        else:
            parts.append(repr(one))
    return " ".join(parts)
