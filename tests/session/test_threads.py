"""One session in several threads: calls take turns, results are read side by side, and all answers are right."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dctv import Session
from dctv.errors import DctvError, Interrupted
from tests.bounds import EXPLORE

TRACE = str(Path(__file__).parents[1] / "data/ftrace/live_marks.trace.txt.gz")
THREADS = 4
ENDLESS = "SELECT COUNT(*) FROM range(10000000) AS a, range(10000000) AS b WHERE hash(a.range + b.range) = 1"


def together(work: Callable[[int], object]) -> list[object]:
    """Run work in several threads that begin at once."""
    gate = threading.Barrier(THREADS)

    def run(number: int) -> object:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_queries() -> None:
    with Session() as session:
        session.mount(TRACE, "t")
        text = "SELECT COUNT(*), SUM(_duration) FROM t.scheduler.timeslices_p_cpu WHERE _duration > (? IN us)"
        alone = [session.sql(text, [n]).fetchall() for n in range(THREADS)]

        def work(number: int) -> object:
            return [session.sql(text, [number]).fetchall() for _ in range(5)]

        assert together(work) == [[rows] * 5 for rows in alone]


def test_many_queries() -> None:
    each = 250 if EXPLORE else 60
    with Session() as session:
        session.sql("CREATE VIEW v AS SELECT range AS n FROM range(100)")

        def work(number: int) -> object:
            texts = [f"SELECT COUNT(*) FROM v WHERE n < {one % 100} AND ? = {number}" for one in range(each)]
            return [session.sql(text, [number]).fetchall() for text in texts]

        assert together(work) == [[[(one % 100,)] for one in range(each)]] * THREADS


def test_queries_of_kernels_that_divide_by_zero() -> None:
    with Session() as session:
        text = """SELECT COUNT(*), COUNT(1 / (_duration - 5ns)) FROM (SELECT SPAN COUNT(*) AS n FROM
            dctv.generate_sequential_spans(0, 50000ns, 5ns) GROUP USING SPANS FROM
            dctv.generate_sequential_spans(0, 50000ns, 10ns))"""
        alone = session.sql(text).fetchall()
        assert together(lambda _: [session.sql(text).fetchall() for _ in range(5)]) == [[alone] * 5] * THREADS


def test_views_and_mounts() -> None:
    with Session() as session:

        def work(number: int) -> object:
            session.mount(TRACE, f"t{number}")
            session.sql(f"CREATE VIEW v{number} AS SELECT COUNT(*) AS n FROM t{number}.raw_events.sched_switch")
            session.add_table(f"own{number}", {"x": [number]})
            return session.sql(f"SELECT n, x FROM v{number}, own{number}").fetchall()

        found = together(work)
        (count,) = session.sql("SELECT COUNT(*) FROM t0.raw_events.sched_switch").fetchall()[0]
        assert found == [[(count, number)] for number in range(THREADS)]


def test_a_result_is_read_while_others_run() -> None:
    with Session() as session:
        rows = session.sql("SELECT range AS n FROM range(3000000)").chunks()
        first = next(rows)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: session.sql("SELECT 7").fetchall()).result() == [(7,)]
        assert len(first[0]) + sum(len(chunk[0]) for chunk in rows) == 3_000_000


def test_a_session_is_closed_while_another_thread_reads() -> None:
    session = Session(index=False)
    result = session.sql(ENDLESS)
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(result.fetchall)
        time.sleep(0.2)  # The engine has begun by then, as a rule.
        session.close()
        with pytest.raises(DctvError):
            rows.result()
    session.close()


def test_an_interrupt_reaches_all() -> None:
    with Session() as session:
        started = threading.Semaphore(0)

        def work(_: int) -> object:
            result = session.sql(ENDLESS)
            started.release()
            try:
                return result.fetchall()
            except Interrupted:
                return "interrupted"

        def stop() -> None:
            for _ in range(THREADS):
                started.acquire()
            session.interrupt()

        threading.Thread(target=stop).start()
        assert together(work) == ["interrupted"] * THREADS
        assert session.sql("SELECT 1").fetchall() == [(1,)]
