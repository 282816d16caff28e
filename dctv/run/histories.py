"""Build state systems from ordered changes of attributes: on disk, kept or not, or in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from dctv.contracts.histories import HistoryStore, Work
from dctv.errors import Interrupted
from dctv.record import record
from dctv.run.changes import Range
from dctv.run.context import ExecutionContext
from dctv.state import PartialStateSystem, StateSystem
from dctv.state.partial import GRANULARITY

Provider = Callable[[Iterator[Any], StateSystem], None]
"""Applies the changes in Arrow batches, which come in order."""
FULL, MEMORY, PARTIAL, NONE = BACKENDS = ("full", "memory", "partial", "none")


@record
class Options:
    """Options of a state system."""

    backend: str = FULL
    granularity: int = GRANULARITY
    """About how many changes there are between two checkpoints of a partial history."""
    end: int | None = None
    """The end of the history, by default that of the trace or the last change."""
    start: int | None = None
    """Its start; by default 0, or the begin of the trace if that is earlier. SQL's changes may begin before it."""


@record
class Recipe:
    """The inputs for making a history."""

    name: str
    """The name of the state system in messages."""
    slot: str
    """Its name among the kept ones of its trace."""
    changes: Callable[[Range | None], Iterator[Any]]
    """Returns batches of its changes in order of time, all or those of a range; for a provider, its input rows."""
    context: ExecutionContext
    options: Options = Options()
    version: bytes | None = None
    """Identifies how the changes are made; None if unknown, so that the history is not kept."""
    provider: Provider | None = None


def open_or_build(recipe: Recipe, store: HistoryStore | None) -> StateSystem:
    """Build a history, or open the stored one; without a store it is deleted with the state system.

    Raises:
        Interrupted: the user interrupted the work.
        StateError: a change cannot be made.
    """
    try:
        match recipe.options.backend:
            case "memory":
                return _filled(recipe, StateSystem.in_memory)
            case "none":
                return _filled(recipe, StateSystem.without_history)
            case _:
                return _kept(recipe, store) or _temporary(recipe)
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None


def _kept(recipe: Recipe, store: HistoryStore | None) -> StateSystem | None:
    if store is None or recipe.version is None:
        return None
    options = recipe.options
    shown = f"{options.backend} {options.granularity} {options.end} {options.start or 0}"
    version = blake2b(recipe.version + shown.encode(), digest_size=32).digest()
    system: StateSystem | None = store.load_or_build(
        Work(
            recipe.slot,
            version,
            partial(_write, recipe),
            partial(_open, recipe),
            lambda: recipe.context.progress.report(f"{recipe.name}: waiting for another process that makes it", 0, 0),
            recipe.context.log,
        )
    )
    return system


def _temporary(recipe: Recipe) -> StateSystem:
    folder = Path(mkdtemp(prefix="states-", dir=recipe.context.engine.spill_folder()))
    try:
        path = folder / "history"
        _write(recipe, path, b"")
        system = _open(recipe, path, b"")
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(system, rmtree, folder, ignore_errors=True)
    return system


def _write(recipe: Recipe, path: Path, identity: bytes) -> None:
    def begin(start: int) -> StateSystem:
        if recipe.options.backend != PARTIAL:
            return StateSystem.on_disk(path, start, identity)
        granularity = recipe.options.granularity
        return PartialStateSystem.build(path, partial(_replay, recipe), start, identity, granularity)

    _filled(recipe, begin)


def _open(recipe: Recipe, path: Path, identity: bytes) -> StateSystem:
    if recipe.options.backend != PARTIAL:
        return StateSystem.open(path, identity)
    return PartialStateSystem.open_partial(path, partial(_replay, recipe), identity)


def _replay(recipe: Recipe, first: int, last: int) -> Iterator[Any]:
    return recipe.changes((first, last))


def _filled(recipe: Recipe, begin: Callable[[int], StateSystem]) -> StateSystem:
    """Apply all changes to a new system that starts at the first time; abandon it on failure."""
    made: list[StateSystem] = []

    def begun(start: int) -> StateSystem:
        made.append(begin(start))
        return made[0]

    try:
        last = _provided(recipe, begun) if recipe.provider is not None else _applied(recipe, begun)
        (system,) = made
        if system.end is None:
            system.close(last if recipe.options.end is None else max(last, recipe.options.end))
    except BaseException:
        for system in made:
            system.give_up()
        raise
    return system


def _applied(recipe: Recipe, begin: Callable[[int], StateSystem]) -> int:
    """Make the changes of batches; return the time of the last one."""
    system, last, done = None, 0, 0
    start = min(recipe.options.start or 0, 0)
    for batch in recipe.changes(None):
        if batch.num_rows == 0:
            continue
        times = batch.column(0)
        if system is None:
            system = begin(min(start, times[0].as_py() or 0))
        done += system.apply(batch)
        last = times[-1].as_py()
        recipe.context.progress.report(f"{recipe.name}: {done:,} changes", 0, 0)
    if system is None:
        begin(start)
    return last


def _provided(recipe: Recipe, begin: Callable[[int], StateSystem]) -> int:
    """Run a provider, which makes the changes; return the time of the last one."""
    assert recipe.provider is not None
    system = begin(recipe.options.start or 0)
    recipe.provider(_reported(recipe), system)
    return system.now


def _reported(recipe: Recipe) -> Iterator[Any]:
    done = 0
    for batch in recipe.changes(None):
        yield batch
        done += batch.num_rows
        recipe.context.progress.report(f"{recipe.name}: {done:,} rows", 0, 0)
