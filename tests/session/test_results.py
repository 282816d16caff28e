"""The Python API: results in every form, parameters, warnings, settings, interruption."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

import dctv
from dctv.errors import AssertionFailed, BindError, EngineError, Interrupted, UsageError
from dctv.run import asserting, plans
from dctv.run.result import Asserted, Done

SPANS = (
    "SELECT SPAN * FROM dctv.as_spans((SELECT * FROM (VALUES (1, 2, 'a'), (3, 1, NULL)) AS t(_ts, _duration, what)))"
)


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


def test_rows_come_as_tuples(session: dctv.Session) -> None:
    assert session.sql(SPANS).fetchall() == [(1, 2, "a"), (3, 1, None)]


def test_arrow_carries_units(session: dctv.Session) -> None:
    table = session.sql(SPANS).arrow()
    assert table.column_names == ["_ts", "_duration", "what"]
    assert table.schema.field("_ts").metadata == {b"unit": b"ns"}
    assert table.schema.field("what").metadata is None
    assert table.to_pylist()[1] == {"_ts": 3, "_duration": 1, "what": None}


def test_pandas_and_polars(session: dctv.Session) -> None:
    assert session.sql(SPANS).pandas()["_duration"].tolist() == [2, 1]
    assert session.sql(SPANS).polars()["what"].to_list() == ["a", None]
    with pytest.raises(UsageError, match="the result has two columns `a`, polars takes one"):
        session.sql("SELECT 1 AS a, 2 AS a").polars()


@pytest.mark.parametrize("number", [10**38, 2**127 - 1, 2**127, 2**128 - 1])
@pytest.mark.parametrize("form", ["arrow", "df", "pl"])
def test_integers_that_decimals_cannot_hold_are_refused(session: dctv.Session, number: int, form: str) -> None:
    result = session.sql(f"SELECT 1::UINT128 AS h UNION ALL SELECT {number}::UINT128")
    with pytest.raises(EngineError, match="the column `h` has an integer of more than 38 digits"):
        getattr(result, form)()


@pytest.mark.parametrize("number", [10**38 - 1, 1 - 10**38, 0])
def test_integers_of_38_digits_are_decimals(session: dctv.Session, number: int) -> None:
    rows = f"SELECT '{number}'::INT128 AS h UNION ALL SELECT NULL"
    assert session.sql(rows).arrow()["h"].to_pylist() == [number, None]


def test_the_least_integer_of_128_bits_is_refused_by_arrow_only(session: dctv.Session) -> None:
    least = f"SELECT '{-(2**127)}'::INT128 AS h"
    assert session.sql(least).fetchall() == [(-(2**127),)]
    with pytest.raises(EngineError, match="more than 38 digits"):
        session.sql(least).arrow()


def test_batches_are_a_stream(session: dctv.Session) -> None:
    batches = session.sql("SELECT range AS n FROM range(300000)").batches()
    first = next(batches)
    assert 0 < first.num_rows < 300000
    assert first.num_rows + sum(b.num_rows for b in batches) == 300000


def test_a_result_is_read_once(session: dctv.Session) -> None:
    result = session.sql("SELECT 1")
    result.fetchall()
    with pytest.raises(UsageError, match="read already"):
        result.fetchall()


def test_two_results_may_be_open_at_once(session: dctv.Session) -> None:
    one, two = (session.sql(f"SELECT range + {i} AS n FROM range(200000)").batches() for i in (0, 5))
    assert next(one).column(0)[0].as_py() == 0
    assert next(two).column(0)[0].as_py() == 5
    assert sum(b.num_rows for b in one) + sum(b.num_rows for b in two) > 0


@pytest.mark.parametrize(
    ("text", "params", "expected"),
    [
        ("SELECT ?, ?", [1, "a"], (1, "a")),
        ("SELECT ?1, ?0", [1, "a"], ("a", 1)),
        ("SELECT ?, ?0, ?", [1, 2.5], (1, 1, 2.5)),
        ("SELECT :x + 1, :y", {"x": 2**62, "y": None}, (2**62 + 1, None)),
        ("SELECT :b", {"b": b"\x00\xff"}, (b"\x00\xff",)),
        ("SELECT :t, :f", {"t": True, "f": False}, (True, False)),
        ("SELECT :q", {"q": 'it\'s "quoted" \\ `so`'}, ('it\'s "quoted" \\ `so`',)),
    ],
)
def test_parameters(session: dctv.Session, text: str, params: Any, expected: tuple[object, ...]) -> None:
    assert session.sql(text, params).fetchall() == [expected]


def test_a_view_keeps_its_parameters() -> None:
    with dctv.Session(index=False) as session:
        session.sql("CREATE VIEW large AS SELECT * FROM range(10) AS r(i) WHERE i > ?", [7])
        assert session.sql("SELECT COUNT(*), ? FROM large", [2]).fetchall() == [(2, 2)]
        session.sql("CREATE VIEW named AS SELECT * FROM large WHERE i > :least", {"least": 8})
        assert session.sql("SELECT COUNT(*) FROM named LIMIT :least", {"least": 5}).fetchall() == [(1,)]
        assert session.sql("SELECT * FROM named").fetchall() == [(9,)]
        recursive = "CREATE RECURSIVE VIEW counted (i) AS SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ?"
        session.sql(recursive, [5])
        assert session.sql("SELECT MAX(i), ? FROM counted", [3]).fetchall() == [(5, 3)]


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 2**64 - 1])
def test_integers_beside_nulls_stay_exact(session: dctv.Session, value: int) -> None:
    result = session.sql("SELECT x, x AS x, 1.5 AS y FROM (VALUES (:value), (NULL)) AS t(x)", {"value": value})
    frame = result.df()
    assert list(frame.columns) == ["x", "x", "y"]
    assert [int(frame.iloc[0, column]) for column in (0, 1)] == [value, value]
    assert frame.iloc[1].isna().tolist() == [True, True, False]


def test_intervals_are_not_in_polars_frames(session: dctv.Session) -> None:
    with pytest.raises(UsageError, match="the column `x` is an INTERVAL, which cannot be in a polars frame"):
        session.sql("SELECT INTERVAL 1 DAY AS x").pl()


def test_a_missing_parameter_is_named(session: dctv.Session) -> None:
    with pytest.raises(BindError, match=r"no value for the bind parameter `:nope`"):
        session.sql("SELECT :nope", {"x": 1})


def test_division_by_zero_is_counted_once_a_row(session: dctv.Session) -> None:
    result = session.sql("SELECT 1 / (range - range) AS q FROM range(1000)")
    assert {row[0] for row in result.fetchall()} == {None}
    assert result.warnings == [("division by zero gave NULL", 1000)]


def test_warnings_belong_to_one_statement(session: dctv.Session) -> None:
    session.sql("SELECT 1 / 0").fetchall()
    result = session.sql("SELECT 2")
    result.fetchall()
    assert result.warnings == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 9223372036854775807 + x FROM (VALUES (1)) AS t(x)",
        "SELECT SUM(x) FROM (VALUES (9223372036854775807), (1)) AS t(x)",
        "SELECT x * 2 FROM (VALUES (9223372036854775807)) AS t(x)",
    ],
)
def test_integer_overflow_is_an_error(session: dctv.Session, text: str) -> None:
    with pytest.raises(EngineError, match="overflow"):
        session.sql(text).fetchall()


def test_a_failed_assert_raises(session: dctv.Session) -> None:
    with pytest.raises(AssertionFailed, match="assertion failed: nothing is larger"):
        session.sql("ASSERT 1 > 2, 'nothing is larger'")


def test_the_error_of_an_assertion_has_the_value(session: dctv.Session) -> None:
    with pytest.raises(AssertionFailed, match="found 11ms, expected < 10ms") as caught:
        session.sql("ASSERT 11000us < ?, 'quick'", [timedelta(milliseconds=10)])
    assert caught.value.found == "found 11ms, expected < 10ms"
    assert caught.value.message == "assertion failed: quick"


def test_the_value_of_an_assertion_is_computed_without_further_warnings(session: dctv.Session) -> None:
    (outcome,) = session.execute("ASSERT 1 / 0 = 1")
    assert isinstance(outcome, Asserted)
    assert outcome.found == "found NULL, expected 1"
    assert session.warnings() == ["division by zero gave NULL"]
    assert session._context.log.entries == {"division by zero gave NULL": 1}


def test_execute_is_lazy(session: dctv.Session) -> None:
    outcomes = session.execute("CREATE VIEW v AS SELECT 1 AS x; SELECT nope FROM v")
    assert isinstance(next(outcomes), Done)
    assert session.sql("SELECT x FROM v").fetchall() == [(1,)]
    with pytest.raises(BindError, match="unknown column `nope`"):
        next(outcomes)


def test_interrupt_from_another_thread_leaves_the_session_usable(session: dctv.Session) -> None:
    result = session.sql("SELECT COUNT(*) FROM range(100000000000) AS t WHERE range % 7 = 3")
    threading.Timer(0.3, session.interrupt).start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        result.fetchall()
    assert time.monotonic() - started < 10
    assert session.sql("SELECT 1").fetchall() == [(1,)]


class _TooLate(BaseException):
    """Raised by the handler of a signal, as programs limit the time of a call."""


def test_a_time_limit_ends_its_own_query_only(session: dctv.Session) -> None:
    def ring(*_: object) -> None:
        raise _TooLate

    others = session.sql("SELECT range AS n FROM range(3000000)").batches()
    count = next(others).num_rows
    former = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(_TooLate):
            session.sql("SELECT COUNT(*) FROM range(100000000000) AS t WHERE range % 7 = 3").fetchall()
    finally:
        signal.signal(signal.SIGALRM, former)
    assert session.sql("SELECT 1").fetchall() == [(1,)]
    assert count + sum(batch.num_rows for batch in others) == 3_000_000


def test_an_interrupt_while_the_values_of_an_assert_are_found_is_no_verdict(session: dctv.Session) -> None:
    runs: list[int] = []

    def computed(*given: Any) -> list[plans.ExpressionValue]:
        runs.append(len(runs))
        if len(runs) > 1:
            raise Interrupted("interrupted")
        return plans.evaluated(*given)

    with patch.object(asserting, "evaluated", computed), pytest.raises(Interrupted):
        session.sql("ASSERT 1 > 2")


def test_a_kernel_can_be_interrupted(session: dctv.Session) -> None:
    session.sql(
        "CREATE VIEW many AS SELECT SPAN * FROM dctv.as_spans("
        "(SELECT range * 10 AS _ts, 5 AS _duration, range AS n FROM range(20000000)))"
    )
    result = session.sql("SELECT COUNT(*) FROM many a SPAN OUTER JOIN many b")
    threading.Timer(0.5, session.interrupt).start()
    with pytest.raises(Interrupted):
        result.fetchall()
    assert session.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("threads", [1, 2])
def test_results_do_not_depend_on_threads(threads: int) -> None:
    query = (
        "SELECT range % 1000 AS k, SUM(range / 7.0) AS s, COUNT(*) AS n, FIRST(range) AS f "
        "FROM range(300000) GROUP BY range % 1000"
    )
    with dctv.Session(threads=threads) as one, dctv.Session(threads=2) as two:
        assert one.sql(query).fetchall() == two.sql(query).fetchall()


def test_a_query_larger_than_its_memory_spills() -> None:
    query = "SELECT n, v FROM (SELECT hash(range) % 1000003 AS n, range AS v FROM range(4000000)) ORDER BY n, v DESC"
    with dctv.Session(memory_limit="120MB", threads=1) as one:
        count, last = 0, -1
        for batch in one.sql(query).batches():
            keys = batch.column(0)
            assert keys[0].as_py() >= last
            last = keys[len(keys) - 1].as_py()
            count += batch.num_rows
        assert count == 4000000


def test_settings(session: dctv.Session) -> None:
    session.sql("SET memory_limit = '1GB'")
    session.sql("SET threads = 1")
    with pytest.raises(BindError, match="unknown setting `memory_limt`"):
        session.sql("SET memory_limt = '1GB'")
    with pytest.raises(BindError):
        session.sql("SET memory_limit = 'plenty'")


def test_deep_nesting_is_an_error_not_a_traceback(session: dctv.Session) -> None:
    text = "SELECT " + " + ".join(["1"] * 200)
    assert session.sql(text).fetchall() == [(200,)]
    with pytest.raises(dctv.errors.QueryError, match="deep"):
        session.sql("SELECT " + "- " * 5000 + "1")


def test_a_session_that_was_closed_begins_anew(session: dctv.Session) -> None:
    session.sql("CREATE VIEW v AS SELECT 1 AS a")
    assert session.sql("SELECT 1 / 0 AS a").fetchall() == [(None,)]
    session.close()
    with pytest.raises(BindError, match="unknown table `v`"):
        session.sql("SELECT * FROM v")
    result = session.sql("SELECT 1 / 0 AS a")
    assert (result.fetchall(), result.warnings) == ([(None,)], [("division by zero gave NULL", 1)])
    assert not session.mounts()


def test_a_result_outlives_an_unreferenced_session() -> None:
    result = dctv.Session().sql("SELECT SUM(range) AS n FROM range(1000000)")
    gc.collect()
    assert result.fetchall() == [(499_999_500_000,)]
