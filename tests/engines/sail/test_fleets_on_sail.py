"""Queries over fleets give the same rows where workers of Sail read the traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session
from tests.engines.sail.served import Mode, served
from tests.fleet.test_exact_quantiles import check_quantiles, few_events_are_many
from tests.fleet.test_fleet_queries import check_rows_of_a_fleet
from tests.fleet.traces import check_errors_name_the_trace


@pytest.fixture(scope="module", params=["local", "local-cluster"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    mode: Mode = request.param
    with served(mode) as (found, _):
        yield found


@pytest.mark.parametrize("count", [1, 3, 50])
def test_rows_are_those_of_one_process(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.chdir(tmp_path)
    with Session(index=False, engine=address) as there:
        check_rows_of_a_fleet(there, tmp_path, count)
        assert there.executor is None


def test_errors_say_in_which_trace(address: str, tmp_path: Path) -> None:
    with Session(index=False, engine=address) as session:
        check_errors_name_the_trace(session, tmp_path)


@pytest.mark.usefixtures(few_events_are_many.__name__)
def test_quantiles_in_two_passes(address: str, tmp_path: Path) -> None:
    with Session(index=False, engine=address) as session:
        check_quantiles(session, tmp_path)
