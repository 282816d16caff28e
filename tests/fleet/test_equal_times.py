"""Rows of equal time keep their order in each trace of a fleet, for functions that take the first or last of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session

ROWS = {"early": "0,b\n0,c\n0,a\n5,x\n", "late": "0,c\n0,b\n5,x\n5,a\n9,x\n"}
MARKS = "(SELECT EVENT name AS mark FROM {T}.raw_events.e WHERE name != 'x')"
QUERIES = {
    "the last label": f"dctv.label_events((SELECT EVENT name FROM {{T}}.raw_events.e WHERE name = 'x'), {MARKS})",
    "labels of labelled events": "dctv.label_events({T}.raw_events.e, "
    f"dctv.label_events({MARKS}, (SELECT EVENT name AS latest FROM {{T}}.raw_events.e)))",
    "every second row": f"dctv.sample({MARKS}, 2)",
    "first and last of a span": "(SELECT SPAN FIRST(mark) AS first, LAST(mark) AS last, LIST(mark) AS marks "
    f"FROM {MARKS} GROUP USING SPANS FROM {{T}}.quantize(4ns))",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session()
    # Made anew if the module's tests are not run one after the other.
    made = tmp_path_factory.mktemp("equal_times")
    for name, rows in ROWS.items():
        folder = made / name
        folder.mkdir()
        (folder / "e.csv").write_text("ts,name\n" + rows)
        session.mount(str(folder / "e.csv"), name, timestamp="ts")
    session.mount_traces(str(made / "*" / "e.csv"), "runs", timestamp="ts")
    return session


@pytest.mark.parametrize("engine", ["kernel", "relational"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_rows_of_equal_time_keep_their_order_in_each_trace(session: Session, query: str, engine: str) -> None:
    session.sql(f"SET span_engine = '{engine}'")
    for name in ROWS:
        alone = session.sql(f"SELECT * FROM {query.replace('{T}', name)}").fetchall()
        of_fleet = f"SELECT * EXCLUDE (_trace) FROM {query.replace('{T}', 'runs')} WHERE _trace LIKE '%/{name}/%'"
        assert sorted(session.sql(of_fleet).fetchall(), key=repr) == sorted(alone, key=repr)


def test_the_last_label_is_that_of_the_trace(session: Session) -> None:
    query = QUERIES["the last label"].replace("{T}", "runs")
    rows = session.sql(f"SELECT _trace, mark FROM {query} ORDER BY ALL").fetchall()
    assert [(Path(trace).parent.name, mark) for trace, mark in rows] == [("early", "a"), ("late", "a"), ("late", "a")]
