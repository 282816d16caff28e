"""The namespace of a session: nested names of tables, views and table-valued functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Literal

from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError, Place, nearest
from dctv.plan.expressions import TraceStarts
from dctv.plan.nodes import Plan
from dctv.record import field, record
from dctv.syntax import ast
from dctv.syntax.write.writer import dotted, quote
from dctv.types.schema import Schema


@record
class StoredTable:
    """A stored table: part of a mounted trace, or of the session."""

    plan: Callable[[], Plan]
    doc: str = ""
    there: bool = True
    """Whether it holds events of the trace: not if it holds metadata, or an event that the trace lacks."""
    event: str | None = None
    """The expected event that it belongs to, if it is one of the standard library's."""
    own: bool = False
    """Whether the user of the session created it, and may drop it."""


@record
class View:
    """A named select."""

    select: Callable[[], ast.Select]
    columns: tuple[ast.Name, ...] = ()
    home: tuple[str, ...] = ()
    """The prefix where names in the select are looked up first: the mount, for views of the standard library."""
    doc: str = ""
    warns_if_empty: bool = False
    """Whether a note warns if the trace lacks everything that it reads: for views of the standard library."""
    name: str = ""
    """Its full name: for views of the standard library."""
    key: tuple[str, ...] = ()
    """Columns of which no two rows have the same values, where that is declared: for views of the standard library."""
    materialized: Materialized = ""
    """Where its rows are stored for later queries, if they are: for views of the standard library."""
    params: Mapping[int | str, object] = field(default_factory=dict)
    """Values of the bind parameters in its text."""


@record
class LibraryPart:
    """A table that the standard library is built on: the union of some views, in order of time if timed."""

    schema: Schema
    unique: tuple[str, ...]
    """Columns that tell its rows apart, if any do."""
    views: tuple[View, ...]
    reader: str
    """The format of the trace."""


@record
class Macro:
    """A named expression or select with parameters."""

    parameters: Mapping[str, ast.Expr | None]
    """Defaults by lower-case names, in order; None for a parameter without one."""
    body: ast.Expr | ast.Select
    doc: str
    """Its usage."""

    def default(self, name: str) -> ast.Expr:
        """Return the default of a parameter; it must have one."""
        found = self.parameters[name]
        assert found is not None, name
        return found


@record
class NamedType:
    """A type that CREATE TYPE named."""

    text: str
    """The engine's name of it."""
    doc: str


@record
class WallClock:
    """The wall-clock start of a mounted trace, or those of the traces of a fleet: a function of times."""

    start: int | None
    """Time 0 in ns since the Unix epoch, None if unknown."""
    clock: str
    """A description of its clock."""
    starts: TraceStarts | None = None
    """Of a fleet: time 0 of each trace."""

    def unknown(self, mount: str, place: Place | None) -> BindError | None:
        """Return the error of a clock that no time can be read from; None if there is none."""
        if self.starts is None and self.start is None:
            hint = f"see the table {mount}.properties"
            return BindError(f"`{mount}` does not record when it began: {self.clock}", place, hint=hint)
        if self.starts is not None and not self.starts.of:
            hint = f"see the table {mount}.properties"
            return BindError(f"no trace of `{mount}` records when it began", place, hint=hint)
        return None


Materialized = Literal["", "session", "index"]
"""Where the rows of a view are stored: nowhere, in the session, or beside the index of the trace if it has one."""
NOTHING_MOUNTED = "nothing is mounted: MOUNT TRACE 'file' AS name, or give NAME=PATH on the command line"
_FEW = 3
"""The maximum number of tables that an error names."""
Entry = StoredTable | View | LibraryPart | TableFunction | Macro | NamedType | WallClock


def how_to_drop(entry: Entry) -> str:
    """Return a hint at the statement that forgets an entry."""
    match entry:
        case View():
            return "DROP VIEW forgets a view"
        case StoredTable(own=True):
            return "DROP TABLE forgets a table"
        case Macro():
            return "DROP MACRO forgets a macro"
        case NamedType():
            return "DROP TYPE forgets a type"
        case _:
            return "DROP ALL unmounts a whole trace"


@record(frozen=False)
class Namespace:
    """One level: names of entries and of further levels."""

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
        """Return a copy with levels of its own; the entries are the same."""
        return Namespace(dict(self.entries), {name: one.copied() for name, one in self.spaces.items()}, self.fill)

    def walk(self, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Entry]]:
        """Yield every entry below with the parts of its name."""
        self.filled()
        for name, entry in self.entries.items():
            yield (*prefix, name), entry
        for name, space in self.spaces.items():
            yield from space.walk((*prefix, name))


def pick(names: dict[str, object] | dict[str, Entry] | dict[str, Namespace], name: str) -> str | None:
    """Find a name as written, or ignoring case if that is unambiguous."""
    if name in names:
        return name
    found = [n for n in names if n.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


class Catalog:
    """The names of a session: looked up, added and dropped."""

    def __init__(self) -> None:
        self.root: Namespace = Namespace()
        self._made = count(1)
        self.changes: int = 0
        """The number of the last change of a name; `restore` goes back to one, but no other change gets it again."""
        self.bound: dict[int, Any] = {}
        """Bound views of the standard library: each is bound once, until a name below a mount changes."""
        self.materialized: dict[int, Any] = {}
        """The rows of some of these, by the identity of the plan."""

    def restricted_to(self, name: str) -> Catalog:
        """Return a separate namespace with only one name, which shares its level."""
        made = Catalog()
        made.root.spaces[name] = self.root.spaces[name]
        return made

    def restore(self, root: Namespace, changes: int) -> None:
        """Restore the names as of an earlier number of changes."""
        self.root = root
        self.changes = changes
        self.forget_bound()

    def clear(self) -> None:
        """Remove all names."""
        self.root = Namespace()
        self.forget_bound()

    def forget_bound(self) -> None:
        """Forget bound views of the standard library, and the rows of those that are materialized."""
        self.bound.clear()
        self.materialized.clear()

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
        """Add an entry under a name, or replace it; levels are created as needed."""
        self.level(parts[:-1]).entries[parts[-1]] = entry

    def level(self, parts: tuple[str, ...]) -> Namespace:
        """Return the level under a prefix, created as needed, to add entries to."""
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
        """Add entries below a single name, which are loaded on the first lookup."""
        self.root.spaces[name] = Namespace(fill=entries)

    def drop(self, parts: tuple[str, ...]) -> None:
        """Remove an existing entry."""
        self._forget(parts[:-1])
        level = self.space(parts[:-1])
        assert level is not None, parts
        name = pick(level.entries, parts[-1])
        assert name is not None, parts
        del level.entries[name]

    def drop_space(self, parts: tuple[str, ...]) -> bool:
        """Remove a whole level; return whether it existed."""
        level = self.space(parts[:-1])
        name = None if level is None else pick(level.spaces, parts[-1])
        if level is None or name is None:
            return False
        self.changes = next(self._made)
        self.forget_bound()
        del level.spaces[name]
        return True

    def _forget(self, prefix: tuple[str, ...]) -> None:
        """Clear bound views when a name below a mount changes; views of mounts read no bare names."""
        self.changes = next(self._made)
        if prefix:
            self.forget_bound()

    def unknown(self, path: ast.Path, what: str, home: tuple[str, ...] = ()) -> BindError:
        """Return the error for an unknown name, with the most similar known one."""
        parts = tuple(path.text.split("."))
        if len(path.parts) < len(parts) and self.find(parts) is not None:
            hint: str | None = f"quotes make it a single name: write {path.text} without them"
        else:
            hint = self._similar(path, what, home)
        return BindError(f"unknown {what} `{path.text}`", path.place, hint=hint)

    def _shown(self, home: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """Return the names for hints, by their texts without quotes."""
        found = [name for name, _ in self.root.walk() if not any(part.startswith("_") for part in name[1:-1])]
        inside = self.space(home) if home else None
        if inside is not None:
            found += [name for name, _ in inside.walk()]
        return {".".join(name): name for name in found}

    def _similar(self, path: ast.Path, what: str, home: tuple[str, ...]) -> str | None:
        """Return a hint with a known name that is similar to an unknown one, or with a statement that lists names."""
        names = self._shown(home)
        parts = path.text.split(".")
        hint = None
        near = None
        if len(parts) == 1 or pick(self.root.spaces, parts[0]) is not None or nearest(parts[0], [*self.root.spaces]):
            near = nearest(path.text, [n for n in names if n.count(".") == len(parts) - 1 and n != path.text])
        ending = [n for n in names if n.lower().endswith("." + path.text.lower())]
        ending = [n for n in ending if what != "table" or not n.startswith("dctv.")] or ending
        # Prefer `t.slices` to `t.timeline.slices` for `slices`.
        least = min((n.count(".") for n in ending), default=0)
        ending = [n for n in ending if n.count(".") == least]
        if path.text in names:
            known = dotted(names[path.text])
            is_it = names[path.text] == tuple(part.text for part in path.parts)
            hint = f"`{known}` is not a {what}: DESCRIBE {known} says what it is" if is_it else f"did you mean {known}?"
        elif 0 < len(ending) <= _FEW:
            hint = f"there {'is' if len(ending) == 1 else 'are'} {' and '.join(dotted(names[name]) for name in ending)}"
        elif near is not None:
            hint = f"did you mean {dotted(names[near])}?"
        elif not any(not n.startswith("dctv.") for n in names):
            hint = NOTHING_MOUNTED
        elif self.space(tuple(parts)) is not None and what != "namespace":
            hint = f"`{path.text}` is a namespace: SHOW TABLES FROM {path.text} lists what is in it"
        elif pick(self.root.spaces, parts[0]) is None and (len(parts) > 1 or what == "namespace"):
            there = [name for name in self.root.spaces if name != "dctv"]
            hint = f"there is no `{parts[0]}`; mounted are {', '.join(map(quote, there[:_FEW]))}" if there else None
        elif len(parts) == 1:
            close = nearest(path.text, [n.rpartition(".")[2] for n in names if not n.startswith("dctv.")])
            likely = [n for n in names if n.endswith(f".{close}") and n.count(".") == 1 and not n.startswith("dctv.")]
            hint = f"did you mean {dotted(names[likely[0]])}?" if likely else f"SHOW TABLES lists every {what}"
        return hint
