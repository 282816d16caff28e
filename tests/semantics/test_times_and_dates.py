"""`_ts` against dates: the rows that a brute force finds, over every way to write the comparison and the table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.command_line import ROOT

START = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
TABLES = (
    "t.events", "(SELECT * FROM t.events)", "(SELECT name, _ts FROM t.events UNION ALL SELECT name, _ts FROM t.events)",
    "copy", "(WITH c AS (SELECT _ts FROM copy) SELECT * FROM c)", "t.slices", "dctv.as_events(t.events)",
)  # fmt: skip
FORMS = ("{at} {op} {literal}", "{literal} {back} {at}", "NOT ({at} {inverse} {literal})")
BACK = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(index=True, index_dir=Path(tmp_path_factory.mktemp("index"))) as own:
        own.mount(ROOT / "tests/data/stdlib/requests.jaeger.json", "t")
        own.sql("CREATE VIEW copy AS SELECT * FROM t.events")
        yield own


@bounded(500)
@given(
    st.integers(-3, 400_003).map(lambda us: us // 5 * 5 if us % 3 else us),
    st.sampled_from(list(BACK)),
    st.sampled_from(FORMS),
    st.sampled_from(TABLES),
    st.integers(-12, 12),
)
def test_comparisons_with_literals(session: Session, us: int, op: str, form: str, table: str, ahead: int) -> None:
    there = (START + timedelta(microseconds=us)).astimezone()
    zoned = there + timedelta(hours=ahead)
    literals = [
        f"TIMESTAMP '{there:%Y-%m-%d %H:%M:%S.%f}'",
        f"TIMESTAMP_NS '{there:%Y-%m-%d %H:%M:%S.%f}000'",
        f"TIMESTAMPTZ '{zoned:%Y-%m-%d %H:%M:%S.%f}{'-' if ahead < 0 else '+'}{abs(ahead):02}'",
    ]
    times = [ts for (ts,) in session.sql(f"SELECT _ts FROM {table}").fetchall()]
    ns = us * 1000
    wanted = sorted(
        ts
        for ts in times
        if {"<": ts < ns, "<=": ts <= ns, ">": ts > ns, ">=": ts >= ns}.get(op, (ts == ns) == (op == "="))
    )
    for literal in literals:
        # A time in another unit is rounded, so it is a timestamp, which the engine compares with those of no zone.
        for at in ("_ts", "t.wall_clock(_ts)", *(["(_ts IN us)"] if literal.startswith("TIMESTAMP ") else [])):
            condition = form.format(at=at, op=op, back=BACK[op], inverse=INVERSE[op], literal=literal)
            found = session.sql(f"SELECT _ts FROM {table} WHERE {condition}").fetchall()
            assert sorted(ts for (ts,) in found) == wanted, condition
