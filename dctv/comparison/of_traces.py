"""Compare the results of a query for traces of two sides, for programs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from dctv.bind.parameters import Params
from dctv.catalog.files import found_or_matching, list_files
from dctv.comparison.bundled import TRACE, Metric, metric_of, metrics
from dctv.comparison.comparison import NO_TESTS, Comparison
from dctv.comparison.sides import Side, TraceRun
from dctv.errors import DctvWarning, UsageError
from dctv.index.mounting import When
from dctv.session import Session

Traces = str | Path | Sequence[str | Path]


def compare(
    a: Traces,
    b: Traces,
    sql: str | None = None,
    *,
    by: str | Sequence[str] = (),
    metric: str | None = None,
    params: Params | None = None,
    labels: tuple[str, str] = ("A", "B"),
    index: When = "auto",
    threads: int | None = None,
    memory_limit: str | None = None,
) -> Comparison:
    """Run a query for the traces of two sides, each mounted as `t`, match the rows by their keys, and compare them.

    A side is a path, a pattern such as `old/*.pfw.gz`, or several; each file or folder is a trace, and one run. Keys
    are the columns that are not numbers, or those of `by`; all others are compared. `metric` names a bundled query to
    use instead of `sql`. Traces are read one after another.

    Raises:
        UsageError: there is nothing to compare, columns differ, or a run has several rows with the same key.
        TraceError: a trace cannot be read.
    """
    bundled, opened = _metric(sql, metric), partial(Session, index=index, threads=threads, memory_limit=memory_limit)
    text = bundled.sql if bundled is not None else sql or ""
    first, second = (
        Side(label, tuple(_run(path, text, params, opened) for path in traces_of(given)))
        for label, given in zip(labels, (a, b), strict=True)
    )
    keys = [by] if isinstance(by, str) else list(by)
    found = Comparison((first, second), keys, None if bundled is None else bundled.better)
    if found.repeated and not found.tested:
        warnings.warn(NO_TESTS, DctvWarning, stacklevel=2)
    return found


def traces_of(given: Traces) -> list[str]:
    """Return the traces of paths and patterns: each file or folder is one.

    Raises:
        TraceError: there is no such file, or a pattern matches nothing.
    """
    found: dict[str, None] = {}
    for one in [given] if isinstance(given, str | Path) else given:
        text = str(one)
        found |= dict.fromkeys(found_or_matching(text) or map(str, list_files([text], {}, None)))
    if not found:
        raise UsageError("found a side without traces, expected one or more")
    return list(found)


def _metric(sql: str | None, name: str | None) -> Metric | None:
    """Return the bundled query, if one is requested."""
    if (sql is None) == (name is None):
        what = "neither SQL nor a metric" if sql is None else "both SQL and a metric"
        raise UsageError(f"found {what}, expected one of them", hint=f"metrics: {', '.join(metrics())}")
    return None if name is None else metric_of(name)


def _run(path: str, sql: str, params: Params | None, opened: Callable[[], Session]) -> TraceRun:
    with opened() as session:
        session.mount(path, TRACE)
        result = session.sql(sql, params)
        return TraceRun(path, result.schema.columns, result.arrow())
