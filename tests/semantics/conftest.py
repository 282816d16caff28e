"""Sessions for property tests, which keep nothing from one query to the next, for each way to run span operators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session
from tests.bounds import SPAN_ENGINES, chosen


# One way finds most of what goes wrong, and every `.test` file is run in the other one, too.
@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.ci if at else ()) for at, name in enumerate(SPAN_ENGINES)],
)
def span_engine(request: pytest.FixtureRequest) -> str:
    """Each way to run span operators."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def one(span_engine: str) -> Iterator[Session]:
    """A session of one thread."""
    with Session(threads=1) as session:
        yield chosen(session, span_engine)


@pytest.fixture(scope="module")
def two(span_engine: str) -> Iterator[Session]:
    """A session of two threads."""
    with Session(threads=2) as session:
        yield chosen(session, span_engine)
