"""Questions over the views of real traces have one answer, without an index, with one, and over a fleet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.collection.test_pruned_collection import collection
from tests.session.random_views import Ways, questions, ways

TRACES = [
    "chrome-json/catapult/big_trace.json",
    "chrome-json/live/jax_trace.json.gz",
    "ctf/tracecompass/bandwidth_issue",
    "dftracer/samples/v2.1.0",
    "ftrace-text/trappy_surfaceflinger_systrace.html",
    "perf/live/cpuclock.data",
    "perfetto/live/linux_sys_deflate.pftrace",
    "perfetto/public/chrome.pftrace",
    "trace-cmd/live_marks_tgid.dat",
    "uftrace/small/forkexec-v0.19/uftrace.data",
]


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    with ways(collection() / request.param, tmp_path_factory.mktemp("indexes")) as found:
        yield found


@bounded(12)
@given(data=st.data())
def test_random_questions(trace: Ways, data: st.DataObject) -> None:
    trace.check(data.draw(questions(trace)))
