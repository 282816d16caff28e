"""Call trees, written as `main(a(b, c=2ms), d)`, to uftrace directories and to the lines that print them.

A call whose bracket is not closed was not left; `^f` is the end of a call whose begin is of another process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dctv.cli import main
from tests.readers.uftrace.uftrace_directory import BASE, ENTRY, EXE, EXIT, Directory, record

STEP = 100
"""Ns between two records."""
LIBRARY = frozenset(
    {"malloc", "free", "usleep", "getpid", "fork", "wait", "signal", "raise", "__cxa_atexit", "__monstartup"}
    | {"operator new", "operator delete"}
)
_TOKEN = re.compile(r"[(),]|[^(),]+")
_UNITS = {"us": 10**3, "ms": 10**6}
Payload = tuple[bytes | None, bytes | None]
"""What was recorded where a call began and where it ended."""


@dataclass(frozen=True)
class Step:
    """A begin or an end of a call."""

    kind: int
    name: str
    depth: int
    gap: int = STEP
    """Ns since the one before."""
    leaf: bool = False
    """It is followed by its own end, or follows its own begin."""


def steps(tree: str) -> list[Step]:
    """Read a tree."""
    found: list[Step] = []
    stack: list[str] = [name.strip(" ^,") for name in reversed(re.findall(r"\^[^(),]+", tree))]
    words = [word for word in (word.strip() for word in _TOKEN.findall(tree)) if word]
    for place, word in enumerate(words):
        if word == ")" or word.startswith("^"):
            name = stack.pop()
            found.append(Step(EXIT, name, len(stack)))
        elif word not in "(,":
            name, _, length = word.partition("=")
            leaf = words[place + 1 : place + 2] != ["("]
            found.append(Step(ENTRY, name, len(stack), leaf=leaf))
            if leaf:
                found.append(Step(EXIT, name, len(stack), _length(length), leaf=True))
            else:
                stack.append(name)
    return found


def _length(text: str) -> int:
    return int(text[:-2]) * _UNITS[text[-2:]] if text else STEP


def lines(tree: str) -> str:
    """Return what `replay -f none` prints of a tree, but for the heading."""
    found: list[str] = []
    for step in steps(tree):
        indent = "  " * step.depth
        if step.kind == ENTRY:
            found.append(f"{indent}{step.name}();" if step.leaf else f"{indent}{step.name}() {{")
        elif not step.leaf:
            found.append(f"{indent}}} /* {step.name} */")
    return "".join(f"{line}\n" for line in found)


@dataclass(frozen=True)
class Recording:
    """What a recorder has written."""

    threads: str | Mapping[int, str]
    starts: Mapping[int, int] = field(default_factory=dict)
    """When the first record of a thread is, in ns."""
    payloads: Mapping[str, Sequence[Payload]] = field(default_factory=dict)
    """Of the calls of a function, in order."""
    argspec: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    """More lines of `task.txt`."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    debug: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines of debugging information by function: `L: 7 a.c`, `A: @arg1/s`."""
    external: str | None = None
    features: tuple[str, ...] = ()

    @property
    def trees(self) -> Mapping[int, str]:
        """The trees of the threads."""
        return {1: self.threads} if isinstance(self.threads, str) else self.threads

    def times(self, tid: int = 1) -> Iterator[tuple[int, Step]]:
        """Yield what happens in a thread, and when."""
        now = self.starts.get(tid, 1000)
        for step in steps(self.trees[tid]):
            now += step.gap
            yield now, step

    def write(self, folder: Path) -> Path:
        """Write the directory."""
        names = sorted({step.name for tid in self.trees for _, step in self.times(tid)})
        places = {name: 0x1000 + 0x100 * number for number, name in enumerate(names)}
        symbols = [
            f"{at:016x} {self.sizes.get(name, 0x80):08x} {'P' if name in LIBRARY else 'T'} {name}"
            for name, at in places.items()
        ]
        head = [f"# symbols: {len(names)}", f"# path name: {EXE}"]
        files = {"prog.sym": "".join(f"{line}\n" for line in [*head, *symbols])}
        if self.debug:
            debug_lines = [line for name, own in self.debug.items() for line in (f"F: {places[name]:x} {name}", *own)]
            files["prog.dbg"] = "".join(f"{line}\n" for line in [head[1], *debug_lines])
        if self.external is not None:
            files["extern.dat"] = self.external
        data = {tid: self._records(tid, places) for tid in self.trees}
        tasks = (*Directory().tasks, *self.tasks)
        return Directory(dat=data, argspec=self.argspec, features=self.features, tasks=tasks, files=files).write(folder)

    def _records(self, tid: int, places: Mapping[str, int]) -> bytes:
        out, counts, open_calls = b"", Counter[str](), list[Payload]()
        for time, step in self.times(tid):
            if step.kind == ENTRY:
                payload_values = self.payloads.get(step.name, ())
                number = counts[step.name]
                counts[step.name] += 1
                open_calls.append(payload_values[number] if number < len(payload_values) else (None, None))
                data = open_calls[-1][0]
            else:
                data = open_calls.pop()[1] if open_calls else None
            out += record(time, step.kind, BASE + places[step.name] + 4, step.depth, data)
        return out


def printed(folder: Path, command: str, *options: str) -> str:
    """Return what a command prints of a directory."""
    out = folder.parent / f"{folder.name}.{command}.out"
    assert main([command, str(folder), *options, "--no-index", "-o", str(out)]) == 0
    return out.read_text()


def replayed(folder: Path, *options: str) -> str:
    """Return the calls that are shown, as lines."""
    return printed(folder, "replay", *options, "-f", "none")
