"""Changes to state systems of every kind, and their answers to comparable tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from dctv.state import Interval, PartialStateSystem, StateSystem, Value, escape

Change = tuple[int, str, Value]
"""A time, the name of an attribute, its state from then on."""
Told = tuple[int, int, int, Value]
"""A quark, the first and last time of a state, the state."""


def told(found: Iterable[Interval]) -> list[Told]:
    """Return intervals in order of attributes and times."""
    return sorted(((one.quark, one.start, one.end, one.value) for one in found), key=lambda row: row[:3])


def spans(found: Iterable[Interval]) -> list[tuple[int, int, Value]]:
    """Return starts, ends and states, in order of time."""
    return sorted(((one.start, one.end, one.value) for one in found), key=lambda row: row[:2])


def states_of(system: StateSystem, *names: str) -> list[tuple[int, int, Value]]:
    """Return all states of the attribute of a path."""
    return spans(system.query_2d([system.quark(*names)]))


def batch_of(changes: Sequence[Change]) -> pa.RecordBatch:
    """Return changes as the columns that `apply` takes."""
    times, names, values = zip(*changes, strict=True) if changes else ((), (), ())
    return pa.record_batch(
        {
            "time": pa.array(times, pa.int64()),
            "path": pa.array([escape([name]) for name in names], pa.string()),
            "value": pa.array(values, pa.int64()),
        }
    )


def replay_of(changes: Sequence[Change]) -> Callable[[int, int], Iterator[pa.RecordBatch]]:
    """Return what a partial history calls to have changes made again."""

    def replay(first: int, last: int) -> Iterator[pa.RecordBatch]:
        yield batch_of([one for one in changes if first <= one[0] <= last])

    return replay


def built(system: StateSystem, names: Iterable[str], changes: Sequence[Change], end: int) -> StateSystem:
    """Make attributes and changes, and close."""
    for name in names:
        system.add(name)
    system.apply(batch_of(changes))
    system.close(end)
    return system


def every_kind(
    folder: Path, names: Sequence[str], changes: Sequence[Change], start: int, end: int, granularities: Iterable[int]
) -> list[StateSystem]:
    """Return the same history in memory, on disk, opened again, partial and opened as a partial one."""
    replay = replay_of(changes)
    systems = [
        built(StateSystem.in_memory(start), names, changes, end),
        built(StateSystem.on_disk(folder / "full", start), names, changes, end),
        StateSystem.open(folder / "full"),
    ]
    for number in granularities:
        path = folder / f"partial{number}"
        systems.append(built(PartialStateSystem.build(path, replay, start, granularity=number), names, changes, end))
        systems.append(PartialStateSystem.open_partial(path, replay))
    return systems
