"""SQL over trace files.

`Session` mounts traces and runs SQL; `Result` is the result of a query; `TraceReader` reads one trace by filters;
`compare` returns the `Comparison` of a query's results for the traces of two sides. Errors that a user can cause are
`DctvError`s, and warnings are `DctvWarning`s:

    with dctv.Session() as session:
        session.mount("trace.pfw.gz", "t")
        print(session.sql("SELECT name, SUM(_duration) IN ms AS took FROM t.slices GROUP BY name"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dctv.comparison.comparison import Comparison
    from dctv.comparison.of_traces import compare
    from dctv.errors import (
        AssertionFailed,
        BindError,
        DctvError,
        DctvWarning,
        EngineError,
        IndexFailed,
        IndexUnusable,
        Interrupted,
        ParseError,
        QueryError,
        TraceError,
        UnitError,
        UsageError,
    )
    from dctv.run.result import Result
    from dctv.session import Session
    from dctv.trace_reader import TraceReader

__version__ = "0.1.0"

__all__ = [
    "AssertionFailed",
    "BindError",
    "Comparison",
    "DctvError",
    "DctvWarning",
    "EngineError",
    "IndexFailed",
    "IndexUnusable",
    "Interrupted",
    "ParseError",
    "QueryError",
    "Result",
    "Session",
    "TraceError",
    "TraceReader",
    "UnitError",
    "UsageError",
    "__version__",
    "compare",
]

_HOMES = {
    "Comparison": "dctv.comparison.comparison",
    "Result": "dctv.run.result",
    "Session": "dctv.session",
    "TraceReader": "dctv.trace_reader",
    "compare": "dctv.comparison.of_traces",
}
"""The modules of public names; any other name is an error."""


def __getattr__(name: str) -> object:
    """Load an attribute on first use: `import dctv` must stay light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "dctv.errors")), name)


def __dir__() -> list[str]:
    return __all__
