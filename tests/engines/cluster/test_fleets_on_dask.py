"""Queries over fleets give the same rows where a cluster of Dask reads the traces."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from dctv.errors import TraceError
from dctv.session import Session
from tests.fleet.test_exact_quantiles import check_quantiles, few_events_are_many
from tests.fleet.test_fleet_queries import QUERIES, check_rows_of_a_fleet, rows
from tests.fleet.traces import check_errors_name_the_trace, write_fleet


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        yield client.get_executor()


@pytest.mark.parametrize("count", [1, 3, 50])
def test_rows_are_those_of_one_process(
    executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.chdir(tmp_path)
    with Session(index=False) as there:
        there.executor = executor
        check_rows_of_a_fleet(there, tmp_path, count)


def test_errors_say_in_which_trace(executor: Executor, tmp_path: Path) -> None:
    with Session(index=False) as session:
        session.executor = executor
        check_errors_name_the_trace(session, tmp_path)


def test_a_worker_that_is_killed_costs_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_fleet(tmp_path, 30)
    monkeypatch.chdir(tmp_path)
    sql = QUERIES["a span join"]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        Session(index=False) as here,
        Session(index=False) as there,
    ):
        there.executor = client.get_executor()
        for one in (here, there):
            one.mount_traces("*.json", "runs")
        first, *_ = client.run(os.getpid).values()
        killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
        killer.start()
        found = rows(there, sql)
        killer.join()
        assert found == rows(here, sql)


def test_a_cluster_that_is_gone_is_an_error(tmp_path: Path) -> None:
    write_fleet(tmp_path, 3)
    with Session(index=False) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        with (
            LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            session.executor = client.get_executor()
        with pytest.raises(TraceError, match="the executor failed with"):
            session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall()
        session.executor = None
        assert session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall() == [(180,)]


@pytest.mark.usefixtures(few_events_are_many.__name__)
def test_quantiles_in_two_passes(executor: Executor, tmp_path: Path) -> None:
    with Session(index=False) as session:
        session.executor = executor
        check_quantiles(session, tmp_path)
