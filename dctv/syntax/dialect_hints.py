"""Hints for words that the grammar does not allow: words of other dialects, clauses in the wrong order."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.syntax.lexer import Raw
from dctv.syntax.other_tools import CREATED, STATEMENTS
from dctv.syntax.parser import END

_ORDER = ("FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET")
"""Clauses of a select as they follow each other."""
_IN_TWO_WORDS = {"GROUP": "GROUP BY", "ORDER": "ORDER BY"}
_BOUNDARIES = frozenset(("UNION", "EXCEPT", "INTERSECT", "SELECT"))


def hint_of(tokens: Sequence[Raw], index: int) -> str | None:
    """Return a hint for the invalid token at an index; None if there is none."""
    words = [token.text.upper() for token in tokens[: index + 1]]
    word, before = words[-1], words[:-1]
    return (
        _of_other_tools(before, word)
        or _of_a_query(before, word)
        or _of_a_clause(before, word)
        or _not_closed(tokens[:index], word, at_end=tokens[index].kind == END)
    )


def _of_other_tools(before: Sequence[str], word: str) -> str | None:
    """Return a hint for syntax of DuckDB, Perfetto and others that dctv lacks, or spells differently."""
    if not before or before[-1] == ";":
        return STATEMENTS.get(word)
    if before[-1] == "CREATE" or before[-3:] == ["CREATE", "OR", "REPLACE"]:
        return CREATED.get(word)
    if before[-1] == "TOP" and word.isdecimal():
        return f"LIMIT {word} at the end takes the first rows"
    return None


def _of_a_query(before: Sequence[str], word: str) -> str | None:
    """Return a hint for a query that needs parentheses."""
    if word == "SELECT" and before[-1:] == ["("]:
        return "a query as an argument stands in parentheses of its own: f((SELECT ...), ...)"
    if word == "SELECT" and before[-1:] == ["ASSERT"]:
        return "a query stands in parentheses: ASSERT (SELECT ...)"
    return None


def _of_a_clause(before: Sequence[str], word: str) -> str | None:
    """Return a hint for a misplaced clause, or part of one."""
    if word == "FROM" and before[-3:] == ["GROUP", "BY", "SPANS"]:
        return "write GROUP USING SPANS FROM"
    if word in {"ON", "USING"} and _last_join(before) == "SPAN":
        return f"a SPAN JOIN has no {word}: it matches times, and partitions of the same name; WHERE takes conditions"
    here = [before[at] for at in _outside(before)]
    if "BETWEEN" in here and "AND" not in here[: here.index("BETWEEN")]:
        return "BETWEEN takes both ends: x BETWEEN low AND high"
    if word in {"WHERE", "HAVING"} and word in here[: next((i for i, w in enumerate(here) if w in _BOUNDARIES), None)]:
        return f"{word} stands once in a select: AND joins conditions"
    later = _clause_after(before, word)
    return None if later is None else f"{_written(word)} stands before {_written(later)}"


def _not_closed(before: Sequence[Raw], word: str, *, at_end: bool) -> str | None:
    """Return a hint for a word that ends a list in parentheses too early."""
    if not at_end and word not in _ORDER:
        return None
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at].text == ")") - (before[at].text == "(")
        if depth < 0:
            inside = [token.text.upper() for token in before[at + 1 : at + 2]]
            if not at_end and (not inside or inside[0] in {"SELECT", "FROM", "WITH"}):
                return None
            gap = " " * (at > 0 and before[at - 1].stop < before[at].start)
            return f"a `)` is missing: `{before[at - 1].text if at else ''}{gap}(` is not closed"
    return None


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
