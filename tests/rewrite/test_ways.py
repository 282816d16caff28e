"""A way to carry out statements that changes what comes out is told."""

from __future__ import annotations

import pytest

from dctv.errors import Source
from dctv.session import Session
from dctv.syntax.parse import parse
from tests.ways import WAYS, Outcome, differing


@pytest.mark.parametrize(
    ("sql", "right", "wrong"),
    [
        ("SELECT 1 AS x", ["(1,)"], ["(2,)"]),
        ("SELECT 1 AS x", ["(1,)"], []),
        ("SELECT 1 AS x", ["(1,)"], "no rows"),
        ("SELECT error('no') AS x", "no", "yes"),
        ("SELECT error('no') AS x", "no", ["(1,)"]),
    ],
)
def test_each_way_is_compared(sql: str, right: Outcome, wrong: Outcome) -> None:
    (statement,) = parse(Source("<query>", sql))
    with Session(index=False) as session:
        assert not list(differing(session, statement, right))
        assert len(list(differing(session, statement, wrong))) == len(WAYS)
        assert session._context.settings.rewrite == "on"
