"""`_ts` against dates: the rows that a brute force finds, over every way to write the comparison and the table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
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
# A time in another unit is rounded, so it is a timestamp, which the engine compares with those of no zone.
TIMES = [
    *product(("_ts", "t.wall_clock(_ts)"), ("TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMPTZ")),
    ("(_ts IN us)", "TIMESTAMP"),
]
BACK = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
WAYS = [(form, op, at, kind) for form in FORMS for op in BACK for at, kind in TIMES]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(index=True, index_dir=Path(tmp_path_factory.mktemp("index"))) as own:
        own.mount(ROOT / "tests/data/stdlib/requests.jaeger.json", "t")
        own.sql("CREATE VIEW copy AS SELECT * FROM t.events")
        yield own


@pytest.fixture(scope="module")
def times(session: Session) -> dict[str, list[int]]:
    return {table: [ts for (ts,) in session.sql(f"SELECT _ts FROM {table}").fetchall()] for table in TABLES}


@bounded(1200)
@given(
    st.integers(-3, 400_003).map(lambda us: us // 5 * 5 if us % 3 else us),
    st.sampled_from(WAYS),
    st.sampled_from(TABLES),
    st.integers(-12, 12),
)
def test_comparisons_with_literals(
    session: Session, times: dict[str, list[int]], us: int, way: tuple[str, str, str, str], table: str, ahead: int
) -> None:
    form, op, at, kind = way
    there = (START + timedelta(microseconds=us)).astimezone()
    zoned = there + timedelta(hours=ahead)
    literal = {
        "TIMESTAMP": f"'{there:%Y-%m-%d %H:%M:%S.%f}'",
        "TIMESTAMP_NS": f"'{there:%Y-%m-%d %H:%M:%S.%f}000'",
        "TIMESTAMPTZ": f"'{zoned:%Y-%m-%d %H:%M:%S.%f}{'-' if ahead < 0 else '+'}{abs(ahead):02}'",
    }[kind]
    ns = us * 1000
    wanted = sorted(
        ts
        for ts in times[table]
        if {"<": ts < ns, "<=": ts <= ns, ">": ts > ns, ">=": ts >= ns}.get(op, (ts == ns) == (op == "="))
    )
    condition = form.format(at=at, op=op, back=BACK[op], inverse=INVERSE[op], literal=f"{kind} {literal}")
    found = session.sql(f"SELECT _ts FROM {table} WHERE {condition}").fetchall()
    assert sorted(ts for (ts,) in found) == wanted, condition
