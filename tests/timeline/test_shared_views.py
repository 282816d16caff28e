"""Providers of a timeline give the same rows if each computes the places of threads and tracks, or they share them."""

from __future__ import annotations

import pytest

from dctv.rewrite.graph import readers_first
from dctv.run.providers import Providers
from dctv.run.recursion import deep_recursion
from dctv.run.templates import SharedRows
from dctv.run.timelines import _SHARED
from dctv.run.tracks import TIMELINE
from dctv.session import Session
from tests.sqltest import ROOT

TRACES = (
    "dftracer/loader",
    "ftrace/live_marks_tgid.trace.txt",
    "perfetto/linux_sys_deflate.pftrace",
    "stdlib/calls.pfw",
)


@pytest.mark.parametrize(
    "trace", [pytest.param(one, marks=pytest.mark.ci if at else ()) for at, one in enumerate(TRACES)]
)
def test_the_rows_are_the_same(trace: str) -> None:
    with Session(index=False) as session, deep_recursion():
        session.mount(ROOT / "tests/data" / trace, "t")
        context = session._context
        (mount,) = context.mounts.values()
        alone, together = Providers(TIMELINE, mount, context), Providers(TIMELINE, mount, context, _SHARED)
        plans, others = alone.bound(), together.bound()
        assert [module.parts for module, _ in plans] == [module.parts for module, _ in others]
        read = 0
        for (module, plan), (_, other) in zip(plans, others, strict=True):
            scans = [one for one in readers_first(other) if isinstance(getattr(one, "source", None), SharedRows)]
            read += len(scans)
            expected = alone.result(module.parts, plan).fetchall()
            assert together.result(module.parts, other).fetchall() == expected, module.parts
        assert read > 1
        assert 0 < len(together._sources) <= len(_SHARED)
