"""A session of one thread reads the inputs of operators in that thread, with the same rows."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dctv.errors import Interrupted
from dctv.session import Session

ROWS = 300_000
QUERIES = {
    "a join with itself": "SELECT COUNT(*) AS n, SUM(x._duration) AS d FROM "
    "(SELECT SPAN a.v FROM s AS a SPAN JOIN s AS b) AS x",
    "joins of joins": "SELECT COUNT(*) AS n, SUM(x.v + x.w) AS d FROM (SELECT SPAN a.v, c.v AS w FROM s AS a SPAN "
    "OUTER JOIN (SELECT SPAN v FROM s WHERE v > 1) AS b SPAN JOIN t AS c) AS x",
    "groups": "SELECT SUM(x.n) AS n, COUNT(*) AS c FROM "
    "(SELECT SPAN COUNT(*) AS n FROM s GROUP USING SPANS FROM t) AS x",
}
WIDE = "SELECT COUNT(*) AS n FROM (SELECT SPAN a.v FROM s AS a SPAN JOIN s AS b) AS x CROSS JOIN range(100000) AS r(i)"


def spans(seed: int) -> pa.Table:
    made = np.random.default_rng(seed)
    starts = np.cumsum(made.integers(5, 50, ROWS))
    columns = {"_ts": starts, "_duration": made.integers(1, 5, ROWS), "v": made.integers(0, 4, ROWS)}
    return pa.table(columns)


def opened(threads: int) -> Session:
    session = Session(threads=threads)
    for seed, name in enumerate("st"):
        session.add_table(name, spans(seed), kind="span")
    return session


@pytest.mark.parametrize("query", QUERIES)
def test_the_rows_match_several_threads(query: str) -> None:
    with opened(1) as one, opened(2) as two:
        found = one.sql(QUERIES[query]).fetchall()
        assert found == two.sql(QUERIES[query]).fetchall()
    assert found[0][0]


def test_no_thread_reads_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    from dctv import _kernels

    begun: list[object] = []
    usual = _kernels.ahead

    def noted(*given: Any, **more: Any) -> Any:
        begun.append(given)
        return usual(*given, **more)

    monkeypatch.setattr(_kernels, "ahead", noted)
    for threads, expected in ((1, False), (2, True)):
        with opened(threads) as session:
            session.sql(QUERIES["joins of joins"]).fetchall()
        assert bool(begun) == expected


def test_an_interrupt_ends_it() -> None:
    ended = threading.Event()
    with opened(1) as session:

        def interrupt() -> None:
            # One that comes before the query runs is not for it.
            while not ended.wait(0.2):
                session.interrupt()

        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        try:
            with pytest.raises(Interrupted):
                session.sql(WIDE).fetchall()
        finally:
            ended.set()
            interrupting.join()
