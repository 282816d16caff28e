"""The operators over one table by brute force, in plain Python: rows are `(ts, duration, *keys, value)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise

from tests.kernels.tables import Row


def by_key(rows: Iterable[Row], parts: int, times: int = 2) -> dict[Row, list[Row]]:
    """Return the rows of each partition, in order of time."""
    found: dict[Row, list[Row]] = {}
    for row in rows:
        found.setdefault(row[times : times + parts], []).append(row)
    return {key: sorted(own, key=lambda row: row[0]) for key, own in found.items()}


def runs(units: Sequence[object], first: int) -> list[tuple[int, int, object]]:
    """Return start, length and value of the stretches of equal units, the first of which is at a time."""
    out, at = [], first
    for value, members in groupby(units):
        length = len(list(members))
        out.append((at, length, value))
        at += length
    return out


def fill_gaps(rows: Sequence[Row], parts: int, start: int | None, stop: int | None, *, keep: bool) -> list[Row]:
    """Look at each unit of time by itself: it is in a gap where no span of the partition covers it."""
    out = list(rows) if keep else []
    first = min((r[0] for r in rows), default=0) if start is None else start
    last = max((r[0] + r[1] for r in rows), default=0) if stop is None else stop
    if not rows and (start is None or stop is None):
        return out
    partitions = by_key(rows, parts) if parts else {(): list(rows)}
    for key, own in partitions.items():
        covered = [any(r[0] <= t < r[0] + r[1] for r in own) for t in range(first, max(first, last))]
        out += [(ts, n, *key, *([None] if keep else [])) for ts, n, inside in runs(covered, first) if not inside]
    return out


def merge_adjacent(rows: Sequence[Row], parts: int) -> list[Row]:
    """Merge the first two neighbours that can be, until there are none."""
    out: list[Row] = []
    for own in by_key(rows, parts).values():
        while True:
            pairs = [n for n, (a, b) in enumerate(pairwise(own)) if a[0] + a[1] == b[0] and a[2:] == b[2:]]
            if not pairs:
                break
            a, b = own[pairs[0] : pairs[0] + 2]
            own[pairs[0] : pairs[0] + 2] = [(a[0], a[1] + b[1], *a[2:])]
        out += own
    return out


def zoom(rows: Sequence[Row], parts: int, step: int, start: int | None, stop: int | None) -> list[Row]:
    """Take the short spans that begin in each step of each partition together; of the longest the first."""
    out: list[Row] = []
    for key, every in by_key(rows, parts).items():
        # What has no length touches a range unless it stands before it.
        own = [r for r in every if start is None or r[0] + r[1] > start or r[0] >= start]
        own = [r for r in own if stop is None or r[0] < stop]
        cells = [[row] for row in own if row[1] >= step]
        short = [row for row in own if row[1] < step]
        cells += [[row for row in short if row[0] // step == n] for n in {row[0] // step for row in short}]
        for cell in cells:
            ts, end, longest = cell[0][0], cell[-1][0] + cell[-1][1], max(row[1] for row in cell)
            value = next(row[-1] for row in cell if row[1] == longest)
            out.append((ts, end - ts, *key, len(cell), sum(row[1] for row in cell), longest, value))
    return out


def zoom_counter(rows: Sequence[Row], parts: int, step: int, start: int | None, stop: int | None) -> list[Row]:
    """Look at each unit of time by itself, and take those of one step together; steps within one span are one."""
    out: list[Row] = []
    for key, own in by_key(rows, parts).items():
        units: dict[int, dict[int, int]] = {}
        for number, row in enumerate(own):
            for t in range(row[0], row[0] + row[1]):
                if (start is None or t >= start) and (stop is None or t < stop):
                    units.setdefault(t // step, {})[t] = number
        whole = {n: set(cell.values()) for n, cell in units.items() if len(cell) == step and len({*cell.values()}) == 1}
        for n in sorted(units):
            if n in whole and whole.get(n - 1) == whole[n]:
                continue
            end = n + 1
            while n in whole and whole.get(end) == whole[n]:
                end += 1
            cell = {t: number for one in range(n, end) for t, number in units[one].items()}
            values = [own[cell[t]][-1] for t in sorted(cell) if own[cell[t]][-1] is not None]
            mean = float(sum(map(Fraction, values)) / len(values)) if values else None
            known = (min(values), max(values), values[-1]) if values else (None, None, None)
            out.append((min(cell), max(cell) + 1 - min(cell), *key, *known, mean))
    return out


def truncate(rows: Sequence[Row], parts: int) -> list[Row]:
    """Cut each span where a later row of its partition begins."""
    out = []
    for own in by_key(rows, parts).values():
        for number, row in enumerate(own):
            end = min([row[0] + row[1], *(other[0] for other in own[number + 1 :])])
            out.append((row[0], end - row[0], *row[2:]))
    return [row for row in out if row[1] > 0]


def lanes(rows: Sequence[Row], parts: int) -> list[Row]:
    """Try all lanes from 0 on."""
    out: list[Row] = []
    for key, own in by_key(rows, parts).items():
        taken: list[tuple[int, int]] = []
        for ts, length, *rest in own:
            busy = {lane for lane, end in taken if end > ts}
            lane = next(n for n in range(len(own)) if n not in busy)
            taken.append((lane, ts + length))
            out.append((ts, length, *key, lane, *rest[parts:]))
    return out


def flatten(rows: Sequence[Row], parts: int) -> list[Row]:
    """Look at each unit of time by itself, and take the best of what covers it."""
    out = []
    for own in by_key(rows, parts).values():
        last = max(r[0] + r[1] for r in own)
        units: list[int | None] = []
        for t in range(last):
            inside = [(-r[0], r[0] + r[1], n) for n, r in enumerate(own) if r[0] <= t < r[0] + r[1]]
            units.append(min(inside)[2] if inside else None)
        out += [(ts, n, *own[i][2:]) for ts, n, i in runs(units, 0) if isinstance(i, int)]
    return out


def concurrency(rows: Sequence[Row], parts: int, *, events: bool, idle: bool, merge: bool) -> list[Row]:
    """Count between each two boundaries."""
    out: list[Row] = []
    for key, own in by_key(rows, parts).items():
        bounds = sorted({t for r in own for t in (r[0], r[0] + r[1])})
        counts = [sum(r[0] <= t < r[0] + r[1] for r in own) for t in bounds]
        steps = list(zip(bounds, counts, strict=True))
        if merge:
            steps = [s for n, s in enumerate(steps) if not n or steps[n - 1][1] != s[1]]
        if events:
            out += [(t, *key, count) for t, count in steps]
        else:
            out += [(a, b - a, *key, n) for (a, n), (b, _) in pairwise(steps) if n or idle]
    return out


def sessions(rows: Sequence[Row], parts: int, gap: int) -> list[Row]:
    """Split the events of a partition wherever two neighbours are too far apart."""
    out: list[Row] = []
    for key, own in by_key(rows, parts, 1).items():
        times = [row[0] for row in own]
        cuts = [0, *(n + 1 for n, (a, b) in enumerate(pairwise(times)) if b - a > gap), len(times)]
        groups = [times[a:b] for a, b in pairwise(cuts)]
        out += [(group[0], max(1, group[-1] - group[0]), *key, len(group)) for group in groups]
    return out


def label_events(events: Sequence[Row], labels: Sequence[Row], own: int) -> list[Row]:
    """Look at all labels for each event; of the latest, the last row counts."""
    out = []
    for event in events:
        fitting = [n for n in labels if n[0] <= event[0] and n[1 : 1 + own] == event[1 : 1 + own]]
        best = max(enumerate(fitting), key=lambda pair: (pair[1][0], pair[0]))[1][-1] if fitting else None
        out.append((*event, best))
    return out


def in_window(window: Row, rows: Sequence[Row], parts: int, key: Row, *, of_events: bool) -> list[Row]:
    """Return the rows of a window with some leading keys and a value, in order, by a scan of all rows."""
    begin, end = window[0], window[0] + window[1]
    found = []
    for row in rows:
        own = row[1 : 1 + parts] if of_events else row[2 : 2 + parts]
        touches = begin <= row[0] < end if of_events else row[0] < end and begin < row[0] + row[1]
        if touches and own[: len(key)] == key and row[-1] is not None:
            found.append(row)
    return found
