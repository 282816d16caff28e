"""Queries over fleets give the same rows where workers of Sail read the traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session
from tests.engines.sail.served import Mode, served
from tests.fleet.test_exact_quantiles import check_quantiles, few_events_are_many
from tests.fleet.test_fleet_queries import ALL, FEW, QUERIES, rows
from tests.fleet.traces import check_errors_name_the_trace, write_fleet


@pytest.fixture(scope="module", params=["local", "local-cluster"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    mode: Mode = request.param
    with served(mode) as (found, _):
        yield found


@pytest.mark.parametrize("count", [1, 3, 50])
def test_rows_are_those_of_one_process(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    write_fleet(tmp_path, count)
    monkeypatch.chdir(tmp_path)
    queries = ALL if count == 3 else {name: QUERIES[name] for name in FEW}
    with Session(index=False) as here, Session(index=False, engine=address) as there:
        for one in (here, there):
            one.mount_traces(tmp_path / "*.json", "runs", manifest="runs.csv")
        for name, sql in queries.items():
            assert rows(there, sql) == rows(here, sql), name
        assert there.executor is None


def test_errors_say_in_which_trace(address: str, tmp_path: Path) -> None:
    with Session(index=False, engine=address) as session:
        check_errors_name_the_trace(session, tmp_path)


@pytest.mark.usefixtures(few_events_are_many.__name__)
def test_quantiles_in_two_passes(address: str, tmp_path: Path) -> None:
    with Session(index=False, engine=address) as session:
        check_quantiles(session, tmp_path)
