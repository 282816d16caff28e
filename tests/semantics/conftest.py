"""Sessions for property tests, which keep nothing from one query to the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session


@pytest.fixture(scope="module", params=["kernel", "relational"])
def span_engine(request: pytest.FixtureRequest) -> str:
    """Each way to run span operators."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def one(span_engine: str) -> Iterator[Session]:
    """A session of one thread."""
    yield from _session(1, span_engine)


@pytest.fixture(scope="module")
def two(span_engine: str) -> Iterator[Session]:
    """A session of two threads."""
    yield from _session(2, span_engine)


def _session(threads: int, span_engine: str) -> Iterator[Session]:
    with Session(threads=threads) as session:
        session.sql(f"SET span_engine = '{span_engine}'")
        yield session
