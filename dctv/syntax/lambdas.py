"""Classify words and arrows among the arguments of a call, for which one token of lookahead is not enough."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dctv.syntax.keywords import LAMBDAS
from dctv.syntax.lexer import Raw

_NAMES = ("NAME", "BACKTICKED", "DOUBLE_QUOTED")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def has_parameters(tokens: Sequence[Raw], index: int) -> bool:
    """Whether the word at an index, `lambda`, has parameters after it: else it is a name."""
    return tokens[index + 1].kind in _NAMES and tokens[index + 2].kind in (",", ":")


def opens_body(tokens: Sequence[Raw], index: int) -> bool:
    """Whether the arrow at an index follows the parameters of a lambda, in a call of a function that takes one."""
    begin = index - 1
    if begin > 0 and tokens[begin].kind == ")":
        begin = _opening(tokens, begin)
    elif begin > 0 and tokens[begin].kind not in _NAMES:
        return False
    if begin > 1 and tokens[begin - 1].kind == "(" and tokens[begin - 2].text.lower() == "columns":
        return True
    if begin < 1 or tokens[begin - 1].kind != ",":
        return False
    return is_within(tokens, begin, LAMBDAS)


def is_within(tokens: Sequence[Raw], index: int, functions: Collection[str]) -> bool:
    """Whether the token at an index is among the arguments of a call of one of some functions."""
    call = _opening(tokens, index)
    return call > 0 and tokens[call].kind == "(" and tokens[call - 1].text.lower() in functions


def _opening(tokens: Sequence[Raw], index: int) -> int:
    """Return the index of the innermost bracket that is open before an index, or 0."""
    depth = 1
    for at in range(index - 1, -1, -1):
        kind = tokens[at].kind
        depth += (kind in _CLOSING) - (kind in _OPENING)
        if depth == 0:
            return at
    return 0
