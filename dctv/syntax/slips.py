"""Words that the grammar does not allow to hints: words of other dialects, clauses in disorder."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.syntax.lexer import Raw

_ORDER = ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET")
"""Clauses of a select as they follow each other."""
_IN_TWO_WORDS = {"GROUP": "GROUP BY", "ORDER": "ORDER BY"}
_BOUNDARIES = frozenset(("UNION", "EXCEPT", "INTERSECT", "SELECT"))


def hint_of(tokens: Sequence[Raw], index: int) -> str | None:
    """Return a hint for the token at an index, which may not stand there; None if nothing is known."""
    words = [token.text.upper() for token in tokens[: index + 1]]
    word = words[-1]
    if word == "FROM" and words[-4:-1] == ["GROUP", "BY", "SPANS"]:
        return "write GROUP USING SPANS FROM"
    if word == "SELECT" and words[-2:-1] == ["("]:
        return "a query as an argument stands in parentheses of its own: f((SELECT ...), ...)"
    if word in {"ON", "USING"} and _last_join(words[:-1]) == "SPAN":
        return f"a SPAN JOIN has no {word}: it matches times, and partitions of the same name; WHERE takes conditions"
    later = _clause_after(words[:-1], word)
    return None if later is None else f"{_written(word)} stands before {_written(later)}"


def _last_join(words: Sequence[str]) -> str | None:
    """Return the word before the last JOIN that is in no parentheses, `INNER` and the like left out."""
    for at in _outside(words):
        if words[at] == "JOIN":
            before = [w for w in words[max(0, at - 2) : at] if w not in {"INNER", "OUTER"}]
            return before[-1] if before else None
    return None


def _clause_after(words: Sequence[str], word: str) -> str | None:
    """Return a clause of the same select that should have come after the word, and came before it."""
    if word not in _ORDER:
        return None
    for at in _outside(words):
        if words[at] in _BOUNDARIES:
            return None
        if words[at] in _ORDER and _ORDER.index(words[at]) > _ORDER.index(word):
            return words[at]
    return None


def _outside(words: Sequence[str]) -> list[int]:
    """Return the places of words in the same parentheses, from the last to the first, in this statement."""
    depth, found = 0, []
    for at in range(len(words) - 1, -1, -1):
        depth += (words[at] == ")") - (words[at] == "(")
        if depth < 0 or words[at] == ";":
            break
        if depth == 0:
            found.append(at)
    return found


def _written(clause: str) -> str:
    return _IN_TWO_WORDS.get(clause, clause)
