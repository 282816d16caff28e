"""A path as a person gives it -> a trace that is mounted, or with an @ before it all traces of a pattern as one."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.console.files import is_there
from dctv.session import Session

FLEET = "@"


def mount_named(session: Session, path: str | Sequence[str], name: str) -> None:
    """Mount `PATH`, several of them as one trace, or the traces that the pattern in `@PATTERN` matches.

    Raises:
        TraceError: it cannot be read.
        BindError: the name is taken.
    """
    if isinstance(path, str) and path.startswith(FLEET) and not is_there(path):
        session.mount_traces(path.removeprefix(FLEET), name)
    else:
        session.mount(path, name)
