"""An engine that is not there, goes away or is interrupted: an error says so soon, and no part passes for the whole."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from dctv.errors import BindError, Interrupted, NotOnThisEngine, Unanswered
from dctv.session import Session
from tests.engines.sail.served import ROOT, served

SLOW = "SELECT COUNT(*) AS n FROM a AS x JOIN a AS y ON x.v < y.v JOIN a AS z ON x.v + y.v < z.v"
"""Takes minutes."""

REFUSAL = "the function `kurtosis` is not on Spark: it has not been vetted"


def add_rows(session: Session, count: int = 20_000) -> None:
    session.add_table("a", pa.table({"v": list(range(count))}))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as (found, _):
        yield found


def test_nobody_answers() -> None:
    began = time.monotonic()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(Unanswered) as caught:
            Session(engine=f"sc://127.0.0.1:{port}")
    assert caught.value.message == f"cannot reach the engine at `sc://127.0.0.1:{port}`: connection refused"
    assert caught.value.hint
    assert time.monotonic() - began < 10


def test_what_is_no_address() -> None:
    with (
        Session(allow_engines=True) as session,
        pytest.raises(BindError, match="found the engine `spark://x`, expected 'duckdb' or"),
    ):
        session.sql("SET engine = 'spark://x'")


def test_a_text_connects_to_engines_only_that_the_program_named(address: str) -> None:
    with (
        Session(warn=False) as session,
        pytest.raises(BindError, match="a query may not connect to the engine") as caught,
    ):
        session.sql(f"SET engine = '{address}'")
    assert "Session(engine=...)" in str(caught.value.hint)
    with Session(warn=False, engine=address) as session:
        session.sql("SET engine = 'duckdb'")
        session.sql(f"SET engine = '{address}'")
        with pytest.raises(BindError, match="a query may not connect to the engine"):
            session.sql("SET engine = 'sc://127.0.0.1:1'")


def test_the_engine_is_chosen_and_left(address: str) -> None:
    with Session(warn=False, allow_engines=True) as session:
        add_rows(session, 10)
        session.sql(f"SET engine = '{address}'")
        told = [row[0] for row in session.sql("EXPLAIN SELECT SUM(v) AS s FROM a").fetchall()]
        assert any(line.strip() == f"on {address}:" for line in told)
        assert session.sql("SELECT SUM(v) AS s FROM a").fetchall() == [(45,)]
        session.sql("SET engine = 'duckdb'")
        assert not any("on sc:" in row[0] for row in session.sql("EXPLAIN SELECT SUM(v) AS s FROM a").fetchall())


def test_what_it_cannot_do_is_warned_of_or_an_error(address: str) -> None:
    with Session(warn=False, engine=address) as session:
        add_rows(session, 10)
        found = session.sql("SELECT kurtosis(v) > 0 AS h FROM a")
        assert found.fetchall() == [(False,)]
        ((warning, _),) = found.warnings
        assert warning == f"{REFUSAL}; it runs here, over rows that are read here"
        session.sql("SET strict_engine = true")
        with pytest.raises(NotOnThisEngine, match="the function `kurtosis` is not on Spark"):
            session.sql("SELECT kurtosis(v) AS h FROM a").fetchall()
        assert session.sql("SELECT MAX(v) AS m FROM a").fetchall() == [(9,)]


def test_a_query_that_the_engine_knows_no_plan_for_runs_here(address: str) -> None:
    sql = "SELECT v, (SELECT COUNT(*) FROM a AS o WHERE o.v < x.v) AS n FROM a AS x ORDER BY v"
    with Session(warn=False, engine=address) as session:
        add_rows(session, 3)
        found = session.sql(sql)
        assert found.fetchall() == [(0, 0), (1, 1), (2, 2)]
        overflow = session.sql("SELECT v + 9223372036854775807 AS w FROM a")
        with pytest.raises(Exception, match=r"[Oo]verflow"):
            overflow.fetchall()


def test_an_interrupt_ends_what_runs_there() -> None:
    # In a server of its own: Sail lets a join that has begun go on.
    with served() as (address, _), Session(warn=False, engine=address) as session:
        add_rows(session)
        threading.Timer(2, session.interrupt).start()
        began = time.monotonic()
        with pytest.raises(Interrupted):
            session.sql(SLOW).fetchall()
        assert time.monotonic() - began < 20
        assert session.sql("SELECT COUNT(*) AS n FROM a").fetchall() == [(20_000,)]


def test_a_server_that_is_killed_while_it_computes() -> None:
    with served() as (address, process), Session(warn=False, engine=address) as session:
        add_rows(session)
        threading.Timer(2, process.kill).start()
        began = time.monotonic()
        with pytest.raises(Unanswered) as caught:
            session.sql(SLOW).fetchall()
        assert f"the connection to `{address}` was lost" in caught.value.message
        assert caught.value.hint
        assert time.monotonic() - began < 40
        # What is chosen anew is no longer asked.
        session.sql("SET engine = 'duckdb'")
        assert session.sql("SELECT COUNT(*) AS n FROM a").fetchall() == [(20_000,)]


def test_the_command_line_prints_no_part_of_a_result(tmp_path: Path) -> None:
    (tmp_path / "slow.sql").write_text(
        "CREATE TABLE a AS SELECT range AS v FROM range(20000);\n" + SLOW.replace("COUNT(*) AS n", "x.v, y.v AS w")
    )
    command = [sys.executable, "-m", "dctv", "query", "-f", str(tmp_path / "slow.sql"), "--format", "csv"]
    with served() as (address, process):
        asked = subprocess.Popen(
            [*command, "--engine", address, "-o", str(tmp_path / "out.csv")],
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        time.sleep(6)
        process.kill()
        _, told = asked.communicate(timeout=60)
    assert asked.returncode == 2
    assert "was lost; what came of the query so far is not all of it" in told
    assert not (tmp_path / "out.csv").exists()


def test_ctrl_c_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "slow.sql").write_text("CREATE TABLE a AS SELECT range AS v FROM range(20000);\n" + SLOW)
    command = [sys.executable, "-m", "dctv", "query", "-f", str(tmp_path / "slow.sql")]
    with served() as (address, _):
        asked = subprocess.Popen(
            [*command, "--engine", address],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        time.sleep(6)
        asked.send_signal(signal.SIGINT)
        shown, told = asked.communicate(timeout=60)
    assert (asked.returncode, shown) == (130, "")
    assert "interrupted" in told
