"""Scenes of few words, and rich ones of random cells that look like traces."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from dctv.draw.scene import Scene
from dctv.timeline.track import Track, TrackKind

WHOLE = ("track", "lane", "_ts", "_duration", "count", "row", "total", "longest", "filled")
VALUES = ("min", "max", "mean", "last")
SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in WHOLE),
        ("name", pa.dictionary(pa.int32(), pa.string())),
        *((name, pa.float64()) for name in VALUES),
    ]
)
Cell = dict[str, Any]


def track(
    number: int, kind: TrackKind = TrackKind.SLICES, name: str | None = None, parent: int | None = None, **more: Any
) -> Track:
    defaults = {
        "depth": 0 if parent is None else 1,
        "lanes": 1,
        "rows": 1,
        "first": 0,
        "last": 1000,
        "unit": None,
    } | more
    return Track(
        id=number, parent=parent, name=f"track {number}" if name is None else name, kind=kind, source="x", **defaults
    )


def cell(number: int, ts: int, duration: int, name: str | None = "work", **more: Any) -> Cell:
    return {
        "track": number,
        "lane": 0,
        "_ts": ts,
        "_duration": duration,
        "count": 1,
        "row": 0,
        "name": name,
        "total": duration,
        "longest": duration,
        "filled": duration,
        **dict.fromkeys(VALUES),
    } | more


def value(number: int, ts: int, duration: int, mean: float | None, **more: Any) -> Cell:
    return cell(number, ts, duration, None, **{**dict.fromkeys(VALUES, mean), **more})


def table(cells: Iterable[Cell]) -> pa.Table:
    rows = list(cells)
    columns = {field.name: [row[field.name] for row in rows] for field in SCHEMA}
    arrays = [
        pa.array(columns[field.name], pa.string()).dictionary_encode()
        if pa.types.is_dictionary(field.type)
        else pa.array(columns[field.name], field.type)
        for field in SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def scene(tracks: Sequence[Track], cells: Iterable[Cell] = (), start: int = 0, stop: int = 1000, **more: Any) -> Scene:
    return Scene(tracks, table(cells), start, stop, **{"step": 1, "title": "a trace", "origin": 0, **more})


def rich(seed: int = 1) -> Scene:
    """A second of a small machine: CPUs, threads with calls, counters, instants."""
    chance = random.Random(seed)
    tracks: list[Track] = []
    cells: list[Cell] = []
    stop = 10**9

    def add(kind: TrackKind, name: str, parent: int | None = None, **more: Any) -> int:
        depth = 0 if parent is None else tracks[parent].depth + 1
        tracks.append(track(len(tracks), kind, name, parent, depth=depth, last=stop, **more))
        return len(tracks) - 1

    cpus = add(TrackKind.GROUP, "CPUs")
    for cpu in range(4):
        cells += _states(add(TrackKind.STATES, f"CPU {cpu}", cpus), stop, chance, ("Running", "idle"))
    cells += _values(add(TrackKind.COUNTER, "frequency of CPU 0", cpus, unit="kHz"), stop, chance, 8e5, 3.6e6)
    for process, name in enumerate(
        ("server", "postgres: writer", "a_process_with_a_name_that_is_far_too_long_to_show")
    ):
        group = add(TrackKind.GROUP, f"{name} ({4000 + process})")
        words = ("Running", "Runnable", "sleeping", "D")
        cells += _states(add(TrackKind.STATES, "main thread", group), stop, chance, words)
        cells += _calls(add(TrackKind.SLICES, "main thread calls", group, lanes=5), stop, chance)
        if process == 1:
            cells += _values(add(TrackKind.COUNTER, "resident set", group, unit="B"), stop, chance, 3e8, 4e9)
    cells += _values(add(TrackKind.COUNTER, "drift", unit="us"), stop, chance, -40, 60)
    marks = add(TrackKind.INSTANTS, "signals")
    for ts in sorted(chance.sample(range(0, stop, 10**6), 40)):
        cells.append(
            cell(marks, ts, 0, chance.choice(("SIGCHLD", "SIGTERM", "SIGUSR1")), count=chance.choice((1, 1, 3)))
        )
    return Scene(tracks, table(cells), 0, stop, 1 << 19, "a small machine: one second of it", 0)


def _states(number: int, stop: int, chance: random.Random, words: Sequence[str]) -> Iterator[Cell]:
    ts, before = 0, ""
    while ts < stop:
        name = chance.choice([word for word in words if word != before])
        before = name
        duration = min(int(chance.expovariate(1) * stop / 60) + 1, stop - ts)
        if duration < stop / 1000:
            duration = min(stop // 1000, stop - ts)
            yield cell(number, ts, duration, name, count=5, filled=int(duration * chance.uniform(0.4, 1)))
        else:
            yield cell(number, ts, duration, name)
        ts += duration


def _values(number: int, stop: int, chance: random.Random, low: float, high: float) -> Iterator[Cell]:
    ts, mean = 0, (low + high) / 2
    while ts < stop:
        mean = min(max(mean + chance.uniform(-1, 1) * (high - low) / 5, low), high)
        duration = min(chance.randrange(stop // 400, stop // 60), stop - ts)
        spread = chance.choice((0.0, 0.0, (high - low) / 12))
        yield value(number, ts, duration, mean, min=mean - spread, max=mean + spread)
        ts += duration


def _calls(number: int, stop: int, chance: random.Random) -> Iterator[Cell]:
    names = ("main", "handle_request", "parse", "read", "write", "malloc", "std::vector<int>::push_back(int&&)", "poll")

    def fill(first: int, last: int, lane: int) -> Iterator[Cell]:
        ts = first
        while ts < last and lane < 5:
            duration = int((last - first) * chance.uniform(0.02, 0.5))
            end = min(ts + duration, last)
            if end - ts > stop // 1600:
                yield cell(number, ts, end - ts, chance.choice(names), lane=lane)
                yield from fill(ts, end, lane + 1)
            elif end > ts:
                few = chance.randrange(2, 30)
                longest = (end - ts) // 2
                yield cell(number, ts, end - ts, chance.choice(names[3:6]), lane=lane, count=few, longest=longest)
            ts = end + int((last - first) * chance.uniform(0, 0.08)) + 1

    yield from sorted(fill(0, stop, 0), key=lambda one: (one["lane"], one["_ts"]))
