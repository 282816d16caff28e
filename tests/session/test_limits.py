"""Limits of memory that cannot be kept are refused in dctv's own words, and running out of it says what to do."""

from __future__ import annotations

from typing import Any, cast

import pytest

from dctv import Session
from dctv.engines.duckdb import DuckDB
from dctv.errors import BindError, EngineError, UsageError


def test_a_limit_that_no_query_could_keep() -> None:
    with Session(memory_limit="1KB") as session, pytest.raises(UsageError) as caught:
        session.sql("SELECT 1").fetchall()
    assert caught.value.message == "a memory limit of `1KB` is too small, expected at least 8MB"


def test_a_limit_that_is_set_too_small_changes_nothing() -> None:
    with Session() as session:
        with pytest.raises(BindError, match="a memory limit of `1KB` is too small"):
            session.sql("SET memory_limit = '1KB'")
        assert session.sql("SELECT COUNT(*) FROM range(1000000)").fetchall() == [(1_000_000,)]


@pytest.mark.parametrize("limit", ["-1", "-5GB", " -1GB"])
def test_a_limit_below_nothing_is_no_limit(limit: str) -> None:
    """The engine takes it for its own default."""
    message = f"the limit of memory is a size such as 4GB, found `{limit}`"
    with Session(memory_limit=limit) as session, pytest.raises(UsageError) as caught:
        session.sql("SELECT 1").fetchall()
    assert caught.value.message == message
    with Session() as session, pytest.raises(BindError) as refused:
        session.sql(f"SET memory_limit = '{limit}'")
    assert refused.value.message == message


def test_running_out_of_memory_names_our_own_settings() -> None:
    with Session(memory_limit="12MB", threads=4) as session, pytest.raises(EngineError) as caught:
        # A list is one value: there is nothing to spill, so it fails at once.
        session.sql("SELECT list(range) FROM range(3000000)").fetchall()
    assert "Possible solutions" not in caught.value.message
    assert "preserve_insertion_order" not in caught.value.message
    assert "--memory-limit" in (caught.value.hint or "")


THREADS = "SELECT current_setting('threads')::INT"


def _limits(engine: DuckDB) -> list[str]:
    """Return the limits of both databases of an engine, the parallel one first."""
    sql = "SELECT current_setting('memory_limit')"
    both = [engine.cursor(sql, serial=serial) for serial in (False, True)]
    return [limit for one in both for (limit,) in one.execute(sql).fetchall()]


def test_two_databases_use_no_more_memory_than_one() -> None:
    engine = DuckDB(threads=2, memory_limit="200MiB", on_zero_division=lambda _: None)
    assert engine.memory_limit() == 200 * 1024**2
    assert _limits(engine) == ["100.0 MiB", "100.0 MiB"]
    assert engine.memory_limit() == 200 * 1024**2
    engine.configure("memory_limit", "300MiB")
    assert engine.memory_limit() == 300 * 1024**2
    assert _limits(engine) == ["150.0 MiB", "150.0 MiB"]
    engine.close()
    assert _limits(engine) == ["150.0 MiB", "150.0 MiB"]
    assert engine.memory_limit() == 300 * 1024**2
    engine.close()


def test_one_thread_needs_one_database() -> None:
    engine = DuckDB(threads=1, memory_limit="200MiB", on_zero_division=lambda _: None)
    assert _limits(engine) == ["200.0 MiB", "200.0 MiB"]
    engine.configure("memory_limit", "300MiB")
    assert _limits(engine) == ["300.0 MiB", "300.0 MiB"]
    # The one that there is may be running a query that depends on the order of rows.
    engine.configure("threads", 2)
    assert _limits(engine) == ["150.0 MiB", "150.0 MiB"]
    assert [engine.cursor("", serial=serial).execute(THREADS).fetchall() for serial in (False, True)] == [
        [(2,)],
        [(1,)],
    ]
    engine.configure("threads", 1)
    engine.close()
    assert _limits(engine) == ["300.0 MiB", "300.0 MiB"]
    with pytest.raises(UsageError, match="is a number"):
        engine.configure("threads", "many")
    assert [engine.cursor("", serial=serial).execute(THREADS).fetchall() for serial in (False, True)] == [[(1,)]] * 2
    engine.close()


def test_arguments_that_mean_nothing() -> None:
    with pytest.raises(UsageError, match=r"found `index='never'`, expected True, False or 'auto'"):
        Session(index=cast("Any", "never"))
    with Session(threads=0) as session, pytest.raises(UsageError, match="must have at least 1 thread"):
        session.sql("SELECT 1").fetchall()


def test_the_number_of_threads_is_a_number() -> None:
    many: Any = "many"
    with pytest.raises(UsageError, match="the number of threads is a whole number, found str"):
        Session(threads=many)
