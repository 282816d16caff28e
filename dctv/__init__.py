"""SQL over trace files: see `dctv.Session`; filters over one trace: `dctv.TraceReader`."""

from __future__ import annotations

from dctv.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from dctv.session import Session
    from dctv.trace_reader import TraceReader

__version__ = "0.1.0"

__all__ = ["Session", "TraceReader", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Session":
        from dctv.session import Session  # heavy: `import dctv` must stay light

        return Session
    if name == "TraceReader":
        from dctv.trace_reader import TraceReader  # as above

        return TraceReader
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
