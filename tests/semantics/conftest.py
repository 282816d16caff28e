"""Sessions for property tests, which keep nothing from one query to the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session
from tests.bounds import chosen


@pytest.fixture(scope="module")
def one() -> Iterator[Session]:
    """A session of one thread."""
    with Session(threads=1) as session:
        yield chosen(session)


@pytest.fixture(scope="module")
def two() -> Iterator[Session]:
    """A session of two threads."""
    with Session(threads=2) as session:
        yield chosen(session)
