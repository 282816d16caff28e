"""Write trace events in JSON of a given size: nested complete events with arguments, on 64 threads of 8 processes."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

THREADS = 64
PER_PROCESS = 8


def generate(path: Path, events: int) -> None:
    """Write `events` complete events, the same ones each time, and the names of their threads."""
    with path.open("w", encoding="ascii") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        file.write(",\n".join(_names()))
        for line in _events(events):
            file.write(",\n")
            file.write(line)
        file.write("\n]}\n")


def _ids(thread: int) -> str:
    return f'"pid":{1 + thread // PER_PROCESS},"tid":{100 + thread}'


def _names() -> Iterator[str]:
    for process in range(THREADS // PER_PROCESS):
        yield f'{{"ph":"M","pid":{1 + process},"name":"process_name","args":{{"name":"service {process}"}}}}'
    for thread in range(THREADS):
        yield f'{{"ph":"M",{_ids(thread)},"name":"thread_name","args":{{"name":"worker {thread}"}}}}'


def _events(count: int) -> Iterator[str]:
    """Yield stacks of one to five slices, each three microseconds inside of the one around it."""
    draw = random.Random(11)
    free = [1000.0] * THREADS
    while count > 0:
        thread, depth = draw.randrange(THREADS), min(count, draw.randrange(1, 6))
        start, length = free[thread], draw.uniform(100.0, 500.0)
        for level in range(depth):
            times = f'"ts":{start + 3 * level:.3f},"dur":{length - 7 * level:.3f}'
            args = f'"args":{{"src":"f{draw.randrange(50)}.cc","n":{draw.randrange(1000)}}}'
            yield f'{{"ph":"X","cat":"toplevel",{_ids(thread)},{times},"name":"Task{draw.randrange(500)}",{args}}}'
        count -= depth
        free[thread] = start + length + draw.uniform(0.0, 50.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("events", type=int)
    given = parser.parse_args()
    generate(given.path, given.events)
