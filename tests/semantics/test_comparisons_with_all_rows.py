"""Comparisons with ANY and ALL against their definition: what one row decides, and what is NULL."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import pytest

from dctv.session import Session

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
VALUES: Sequence[int | None] = (None, 1, 2, 3)
ROWS: Sequence[Sequence[int | None]] = ((), (1,), (None,), (1, None), (1, 2), (2, 3, None), (2, 2))


def expected(word: str, results: Sequence[bool | None]) -> bool | None:
    decides = word == "ANY"
    if decides in results:
        return decides
    return None if None in results else not decides


@pytest.mark.parametrize(
    "form", ["(SELECT y FROM r WHERE k = {})", "(coalesce((SELECT list(y) FROM r WHERE k = {}), []))"]
)
@pytest.mark.parametrize("word", ["ANY", "ALL"])
@pytest.mark.parametrize("op", OPERATORS)
def test_every_value_and_rows(op: str, word: str, form: str) -> None:
    def compared(a: int | None, b: int | None) -> bool | None:
        return None if a is None or b is None else OPERATORS[op](a, b)

    rows = [(key, one) for key, some in enumerate(ROWS) for one in some]
    columns = ", ".join(f"x {op} {word} {form.format(key)} AS c{key}" for key in range(len(ROWS)))
    with Session(index=False, threads=1) as session:
        session.add_table("r", {"k": [key for key, _ in rows], "y": [one for _, one in rows]})
        session.add_table("t", {"x": list(VALUES)})
        found = session.sql(f"SELECT x, {columns} FROM t ORDER BY x NULLS FIRST").fetchall()
    for value, *results in found:
        wanted = [expected(word, [compared(value, one) for one in some]) for some in ROWS]
        assert results == wanted, value
    assert [row[0] for row in found] == list(VALUES)
