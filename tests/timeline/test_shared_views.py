"""Providers of a timeline give the same rows if each computes the places of threads and tracks, or they share them."""

from __future__ import annotations

import pytest

from dctv.rewrite.graph import readers_first
from dctv.run.providers import SharedViews, bound, result
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
        shared = SharedViews(_SHARED, mount, context)
        alone, together = bound(mount, TIMELINE, context), bound(mount, TIMELINE, context, shared)
        assert [module.parts for module, _ in alone] == [module.parts for module, _ in together]
        read = 0
        for (module, plan), (_, other) in zip(alone, together, strict=True):
            scans = [one for one in readers_first(other) if isinstance(getattr(one, "source", None), SharedRows)]
            read += len(scans)
            expected = result(module.parts, plan, mount, context).fetchall()
            assert result(module.parts, other, mount, context, shared).fetchall() == expected, module.parts
        assert read > 1
        assert 0 < len(shared._rows) <= len(_SHARED)
