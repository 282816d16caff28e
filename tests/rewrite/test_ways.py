"""A variant of execution that changes results is reported."""

from __future__ import annotations

import pytest

from dctv.errors import SourceText
from dctv.session import Session
from dctv.syntax.parse import parse
from tests.ways import WAYS, Outcome, differing

HELD = {"_ts": [1, 5], "_duration": [2, 2], "x": [1, 2]}
_SPANS = "dctv.as_spans((SELECT _ts, _duration, x FROM {}), on_overlap=>'truncate')"
_EARLY = "SELECT _ts FROM (SELECT SPAN a.x AS x FROM {0} AS a SPAN JOIN {0} AS b) WHERE _ts < 3ns"
_ROWS = "(SELECT 1 AS _ts, 2 AS _duration, 1 AS x)"
_ALL = _EARLY.format(_SPANS.format("held"))
"""A query whose plan is another one in each variant."""


@pytest.mark.parametrize(
    ("sql", "right", "wrong"),
    [
        (_ALL, ["(1,)"], ["(2,)"]),
        (_ALL, ["(1,)"], []),
        (_ALL, ["(1,)"], "no rows"),
        (f"SELECT error('no') AS x FROM ({_ALL})", "no", "yes"),
        (f"SELECT error('no') AS x FROM ({_ALL})", "no", ["(1,)"]),
    ],
)
def test_each_variant_is_compared(sql: str, right: Outcome, wrong: Outcome) -> None:
    (statement,) = parse(SourceText("<query>", sql))
    with Session(index=False) as session:
        session.add_table("held", HELD)
        assert not list(differing(session, statement, right, every=True))
        assert len(list(differing(session, statement, wrong, every=True))) == len(WAYS)
        assert session._context.settings.rewrite == "on"


@pytest.mark.parametrize(
    ("sql", "ways"),
    [
        ("SELECT 1 AS x", []),
        ("SELECT x FROM held ORDER BY x", ["scans that leave out all they may"]),
        (f"SELECT * FROM {_SPANS.format(_ROWS)}", ["span_engine = relational"]),
        (_EARLY.format(_SPANS.format(_ROWS)), ["span_engine = relational", "rewrite = off"]),
        (_ALL, list(WAYS)),
    ],
)
def test_one_variant_that_changes_the_plan_is_chosen(sql: str, ways: list[str]) -> None:
    taken = _taken(sql)
    assert len(taken) == min(len(ways), 1)
    assert set(taken) <= set(ways)


def test_all_variants_take_turns() -> None:
    assert {way for number in range(10) for way in _taken(f"{_ALL} AND _ts != {number}ns")} == set(WAYS)


def _taken(sql: str) -> list[str]:
    """Return the ways that a statement is carried out in where not all of them are wanted."""
    (statement,) = parse(SourceText("<query>", sql))
    with Session(index=False) as session:
        session.add_table("held", HELD)
        differences = list(differing(session, statement, "something else", every=False))
    return [line.removeprefix("with ").partition(" came ")[0] for line in differences]
