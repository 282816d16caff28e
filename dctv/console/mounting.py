"""Mount a path as the user gives it: a trace, or all traces of a pattern after an @ as one."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.console.files import FLEET, is_fleet
from dctv.session import Session


def mount_named(session: Session, path: str | Sequence[str], name: str, manifest: str | None = None) -> None:
    """Mount `PATH`, several of them as one trace, or the traces that the pattern in `@PATTERN` matches.

    A manifest describes the traces of a pattern.

    Raises:
        TraceError: it cannot be read.
        BindError: the name is taken.
    """
    if isinstance(path, str) and is_fleet(path):
        session.mount_traces(path.removeprefix(FLEET), name, **({} if manifest is None else {"manifest": manifest}))
    else:
        session.mount(path, name)
