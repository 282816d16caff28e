"""Questions over the views of each format have one answer, without an index, with one, and over a fleet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.index.test_indexes_of_formats import TRACES
from tests.session.random_views import Ways, questions, ways
from tests.sqltest import ROOT


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    with ways(ROOT / TRACES[request.param], tmp_path_factory.mktemp("indexes")) as found:
        yield found


@bounded(40)
@given(data=st.data())
def test_random_questions(trace: Ways, data: st.DataObject) -> None:
    trace.check(data.draw(questions(trace)))
