"""Compare the views of a trace with those of the same trace moved in time: only times may differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dctv.catalog.mount import HIDDEN
from dctv.catalog.stdlib import EVERY, LibraryModule, modules
from dctv.session import Session

MOVE, PERIODS = -37_000, -300_000_000
"""A move, and one by a multiple of the periods that functions have by default, in ns."""
MOMENTS = {"render_start"}
"""Columns that are times of the trace though their names do not end in `_ts`."""


def differences(path: Path) -> Iterator[str]:
    """Yield what differs between the views of a trace and of the trace moved in time.

    Views that are empty since the trace lacks their events are left out.
    """
    with Session(index=False) as session:
        session.mount(path, "own")
        session.mount(path, "moved", align=MOVE)
        session.mount(path, "moved_by_periods", align=PERIODS)
        for module in modules():
            exists = EVERY in module.formats or session.columns(".".join(("own", *module.parts))) is not None
            if exists and module.parts[0] not in HIDDEN:
                yield from _of_view(session, module)


def _call(module: LibraryModule) -> str:
    """Return a view's name, or a call of it with a thread for each parameter that has no default."""
    name = ".".join(module.parts)
    thread = "(SELECT COALESCE(MIN(tid), 1) FROM own.scheduler.thread_summary)"
    needed = [thread for _, default, _ in module.parameters if default is None]
    return f"{name}({', '.join(needed)})" if module.parameters else name


def _of_view(session: Session, module: LibraryModule) -> Iterator[str]:
    call = _call(module)
    own = _rows(session, f"own.{call}", 0)
    if any(" is empty: " in one for one in session.warnings()):
        return
    periodic = "period" in (name for name, _, _ in module.parameters)
    name, move = ("moved_by_periods", PERIODS) if periodic else ("moved", MOVE)
    moved = _rows(session, f"{name}.{call}", move)
    if moved != own:
        gone, new = list((own - moved).elements()), list((moved - own).elements())
        yield f"{call} of {own.total()} rows, moved by {move} ns: lacks {gone[:3]}, has {new[:3]}"


def _rows(session: Session, table: str, move: int) -> Counter[tuple[Any, ...]]:
    """Return the rows of a table with times as if they were not moved, and floats as far as sums are exact."""
    found = session.sql(f"SELECT * FROM {table}").arrow()
    columns = []
    for column in found.schema.names:
        values = found[column].to_pylist()
        if column.endswith("_ts") or column in MOMENTS:
            values = [None if value is None else value - move for value in values]
        columns.append([_plain(value) for value in values])
    return Counter(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    return f"{value:.9g}" if isinstance(value, float) else repr(value) if isinstance(value, list | dict) else value
