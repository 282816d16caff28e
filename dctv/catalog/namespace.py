"""The one namespace of a session: nested names of tables, views and table-valued functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError, nearest
from dctv.plan.nodes import Plan
from dctv.record import field, record
from dctv.syntax import ast
from dctv.types.schema import Schema


@record
class StoredTable:
    """A table that is there: part of a mounted trace, or of the session."""

    plan: Callable[[], Plan]
    doc: str = ""
    there: bool = True
    """Whether it has what happened: not if it holds metadata of the trace, or an event that the trace lacks."""
    event: str | None = None
    """The event that it is of, if it is one that the standard library expects."""
    own: bool = False
    """Whether the session's user made it, and may drop it."""


@record
class View:
    """A name for a select."""

    select: Callable[[], ast.Select]
    columns: tuple[ast.Name, ...] = ()
    home: tuple[str, ...] = ()
    """Names in the select are looked up below this prefix first: the mount point, for views of the standard library."""
    doc: str = ""
    warns_if_empty: bool = False
    """Whether a note says so if the trace has nothing that it is made of: for views of the standard library."""


@record
class LibraryPart:
    """A table that the standard library is built on: the rows of some views together, in order of time if timed."""

    schema: Schema
    views: tuple[View, ...]
    reader: str
    """The format of the trace."""


@record
class Macro:
    """A name for an expression or a select with parameters."""

    parameters: Mapping[str, ast.Expr | None]
    """Defaults by lower-case names, in order; None where there is none."""
    body: ast.Expr | ast.Select
    doc: str
    """How it is called."""

    def default(self, name: str) -> ast.Expr:
        """Return the default of a parameter that has one."""
        found = self.parameters[name]
        assert found is not None, name
        return found


@record
class WallClock:
    """When a mounted trace began by the wall clock: a function of its times."""

    start: int | None
    """The ns since 1970 of its time 0, None if unknown."""
    clock: str
    """What is known of its clock."""


NOTHING_MOUNTED = "nothing is mounted: MOUNT TRACE 'file' AS name, or give NAME=PATH on the command line"
_FEW = 3
"""An error names at most this many tables."""
Entry = StoredTable | View | LibraryPart | TableFunction | Macro | WallClock


@record(frozen=False)
class Namespace:
    """One level: names of things, and of further levels."""

    entries: dict[str, Entry] = field(default_factory=dict)
    spaces: dict[str, Namespace] = field(default_factory=dict)
    fill: Callable[[], Mapping[str, Entry]] | None = None
    """Loads further entries on the first lookup."""

    def filled(self) -> Namespace:
        """Return itself with all entries."""
        fill, self.fill = self.fill, None
        if fill is not None:
            self.entries.update(fill())
        return self

    def copied(self) -> Namespace:
        """Return a level like this one, with levels of its own; what the names mean is the same."""
        return Namespace(dict(self.entries), {name: one.copied() for name, one in self.spaces.items()}, self.fill)

    def walk(self, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """Yield every entry below with its dotted name."""
        self.filled()
        for name, entry in self.entries.items():
            yield prefix + name, entry
        for name, space in self.spaces.items():
            yield from space.walk(f"{prefix}{name}.")


def pick(names: dict[str, object] | dict[str, Entry] | dict[str, Namespace], wanted: str) -> str | None:
    """Find a name as written, or without regard to case where that is unambiguous."""
    if wanted in names:
        return wanted
    found = [n for n in names if n.lower() == wanted.lower()]
    return found[0] if len(found) == 1 else None


def quoted(name: str) -> str:
    """Write a dotted name as a query would: parts that are no bare words in backticks."""
    space, _, last = name.rpartition(".")
    shown = last if last.isidentifier() else f"`{last}`"
    return f"{space}.{shown}" if space else shown


class Catalog:
    """Looks names up, adds and drops them."""

    def __init__(self) -> None:
        self.root: Namespace = Namespace()
        self.changes: int = 0
        """How often a name was given to something else, or taken from it."""
        self.bound: dict[int, Any] = {}
        """What views of the standard library were bound to: each is bound once, until a name below a mount changes."""

    def only(self, name: str) -> Catalog:
        """Return a namespace of its own that shares the level of one name, and has nothing else."""
        made = Catalog()
        made.root.spaces[name] = self.root.spaces[name]
        return made

    def restore(self, root: Namespace, changes: int) -> None:
        """Have names as they were when there had been so many changes."""
        self.root = root
        self.changes = changes
        self.bound.clear()

    def clear(self) -> None:
        """Forget all names."""
        self.root = Namespace()
        self.bound.clear()

    def space(self, parts: tuple[str, ...]) -> Namespace | None:
        """Return the level under a prefix, or None."""
        level = self.root
        for part in parts:
            name = pick(level.spaces, part)
            if name is None:
                return None
            level = level.spaces[name].filled()
        return level

    def find(self, parts: tuple[str, ...], home: tuple[str, ...] = ()) -> tuple[Entry, tuple[str, ...]] | None:
        """Return an entry and its full name: below `home` first, then from the root."""
        for prefix in (home, ()) if home else ((),):
            level = self.space((*prefix, *parts[:-1]))
            name = None if level is None else pick(level.entries, parts[-1])
            if level is not None and name is not None:
                return level.entries[name], (*prefix, *parts[:-1], name)
        return None

    def add(self, parts: tuple[str, ...], entry: Entry) -> None:
        """Put an entry under a name, replacing what was there; levels are made as needed."""
        self.level(parts[:-1]).entries[parts[-1]] = entry

    def level(self, parts: tuple[str, ...]) -> Namespace:
        """Return the level under a prefix, made as needed, to put entries there."""
        self._forget(parts)
        level = self.root
        for part in parts:
            name = pick(level.spaces, part)
            if name is None:
                name = part
                level.spaces[name] = Namespace()
            level = level.spaces[name]
        return level

    def fill(self, name: str, entries: Callable[[], Mapping[str, Entry]]) -> None:
        """Add entries below a name of one part, loaded on the first lookup."""
        self.root.spaces[name] = Namespace(fill=entries)

    def drop(self, parts: tuple[str, ...]) -> None:
        """Remove an entry that is there."""
        self._forget(parts[:-1])
        level = self.space(parts[:-1])
        assert level is not None, parts
        name = pick(level.entries, parts[-1])
        assert name is not None, parts
        del level.entries[name]

    def drop_space(self, parts: tuple[str, ...]) -> bool:
        """Remove a whole level; whether it was there."""
        level = self.space(parts[:-1])
        name = None if level is None else pick(level.spaces, parts[-1])
        if level is None or name is None:
            return False
        self.changes += 1
        self.bound.clear()
        del level.spaces[name]
        return True

    def _forget(self, prefix: tuple[str, ...]) -> None:
        """Forget what was bound when a name changes that views of a mount may read; none of them reads a bare name."""
        self.changes += 1
        if prefix:
            self.bound.clear()

    def unknown(self, path: ast.Path, what: str, home: tuple[str, ...] = ()) -> BindError:
        """Return the error for a name that is not there, with the nearest one that is."""
        names = [name for name, _ in self.root.walk() if not any(p.startswith("_") for p in name.split(".")[1:-1])]
        inside = self.space(home) if home else None
        if inside is not None:
            names += [name for name, _ in inside.walk()]
        parts = path.text.split(".")
        hint = None
        near = None
        if len(parts) == 1 or pick(self.root.spaces, parts[0]) is not None or nearest(parts[0], [*self.root.spaces]):
            near = nearest(path.text, [n for n in names if n.count(".") == len(parts) - 1 and n != path.text])
        ending = [n for n in names if n.lower().endswith("." + path.text.lower())]
        ending = [n for n in ending if what != "table" or not n.startswith("dctv.")] or ending
        # `slices` is `t.slices` sooner than `t.timeline.slices`.
        least = min((n.count(".") for n in ending), default=0)
        ending = [n for n in ending if n.count(".") == least]
        if path.text in names:
            hint = f"`{path.text}` is not a {what}: DESCRIBE {path.text} says what it is"
        elif 0 < len(ending) <= _FEW:
            hint = f"there {'is' if len(ending) == 1 else 'are'} {' and '.join(map(quoted, ending))}"
        elif near is not None:
            hint = f"did you mean {quoted(near)}?"
        elif not any(not n.startswith("dctv.") for n in names):
            hint = NOTHING_MOUNTED
        elif self.space(tuple(parts)) is not None and what != "namespace":
            hint = f"`{path.text}` is a namespace: SHOW TABLES FROM {path.text} lists what is in it"
        elif pick(self.root.spaces, parts[0]) is None and (len(parts) > 1 or what == "namespace"):
            there = [name for name in self.root.spaces if name != "dctv"]
            hint = f"there is no `{parts[0]}`; mounted are {', '.join(map(quoted, there[:_FEW]))}" if there else None
        elif len(parts) == 1:
            close = nearest(path.text, [n.rpartition(".")[2] for n in names if not n.startswith("dctv.")])
            likely = [n for n in names if n.endswith(f".{close}") and n.count(".") == 1 and not n.startswith("dctv.")]
            hint = f"did you mean {quoted(likely[0])}?" if likely else f"SHOW TABLES lists every {what}"
        return BindError(f"unknown {what} `{path.text}`", path.place, hint=hint)
