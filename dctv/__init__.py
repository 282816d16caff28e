"""SQL over trace files: see `dctv.Session`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dctv.session import Session

__version__ = "0.1.0"

__all__ = ["Session", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Session":
        from dctv.session import Session  # heavy: `import dctv` must stay light

        return Session
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
