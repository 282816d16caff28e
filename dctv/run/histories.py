"""Changes of attributes, in order, to a state system: on disk, kept or not, or in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from dctv.contracts.histories import Shelf, Work
from dctv.record import record
from dctv.run.changes import Range
from dctv.run.result import Result
from dctv.state import StateSystem

Report = Callable[[str, int, int], None]
"""Told what is done, and how much of it; raises to end it."""


@record
class Recipe:
    """How a history is made."""

    name: str
    """What a person calls the state system."""
    slot: str
    """What it is called among those of its trace that are kept."""
    changes: Callable[[Range | None], Result]
    """Gives its changes in order of time, all or those of a range."""
    end: int | None
    """Where the history ends, if not with its last change."""
    report: Report
    note: Callable[[str], None]
    version: bytes | None = None
    """Says how the changes are made; None if nobody knows, so that the history is not kept."""


def made(recipe: Recipe, shelf: Shelf | None) -> StateSystem:
    """Make a history, or find it where it is kept; if it is kept nowhere it goes with the state system."""
    if shelf is not None and recipe.version is not None:
        work = Work(
            recipe.slot,
            recipe.version,
            partial(_write, recipe),
            StateSystem.open,
            lambda: recipe.report(f"{recipe.name}: waiting for another process that makes it", 0, 0),
            recipe.note,
        )
        found = shelf.kept(work)
        if found is not None:
            return found
    folder = Path(mkdtemp(prefix="dctv-states-"))
    try:
        path = folder / "history"
        _write(recipe, path, b"")
        system = StateSystem.open(path)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(system, rmtree, folder, ignore_errors=True)
    return system


def _write(recipe: Recipe, path: Path, identity: bytes) -> None:
    fill(recipe, lambda start: StateSystem.on_disk(path, start, identity))


def fill(recipe: Recipe, begin: Callable[[int], StateSystem]) -> StateSystem:
    """Make all changes, in a system that is begun with its first time; it is given up if something fails."""
    system, last, done = None, 0, 0
    try:
        for batch in recipe.changes(None).batches():
            if batch.num_rows == 0:
                continue
            times = batch.column(0)
            if system is None:
                system = begin(min(0, times[0].as_py() or 0))
            done += system.apply(batch)
            last = times[-1].as_py()
            recipe.report(f"{recipe.name}: {done:,} changes", 0, 0)
        if system is None:
            system = begin(0)
        system.close(last if recipe.end is None else max(last, recipe.end))
    except BaseException:
        if system is not None:
            system.give_up()
        raise
    return system
