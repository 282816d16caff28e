"""Turn the grammar into an LALR(1) parse table: built with lark at install time, loaded without it."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from dctv import resources
from dctv.record import field, record

STARTS = ("script", "lone_expression", "lone_select")
FILE = "grammar.json"

Row = dict[int, int]
"""The actions of one state, by terminal number: the next state, or `-1 - r` to reduce by rule r."""


@record
class Production:
    """One production: the values that it pops, and the form that it makes of them."""

    origin: int
    """The nonterminal's number."""
    size: int
    name: str
    """The name of its form, empty for a helper whose children its parent takes over."""
    keep: tuple[tuple[int, bool], ...]
    """The positions of the children kept; with True the child is a helper's list, taken over."""
    single: bool
    """Whether a single child replaces the whole."""

    @property
    def renames(self) -> bool:
        """Whether it only gives its single child another name."""
        return self.size == 1 and self.single and bool(self.keep)


@record(frozen=False)
class ParseTable:
    """A parse table; the rows of a state are unpacked when it is first reached."""

    terminals: list[str]
    """Their names by number: a keyword or a punctuation mark is its own name."""
    keywords: frozenset[str]
    patterns: list[tuple[str, str]]
    """Name and regular expression of the other terminals."""
    ignored: frozenset[str]
    nonterminals: list[str]
    starts: dict[str, tuple[int, int]]
    """The first and the last state of each start symbol."""
    packed: tuple[list[list[int]], list[list[int]], list[int], list[int], list[list[Any]]]
    number: dict[str, int] = field(init=False)
    """The numbers of the terminals by name."""
    rules: list[Production | None] = field(init=False)
    rows: dict[int, Row] = field(init=False, default_factory=dict)
    gotos: dict[int, Row] = field(init=False, default_factory=dict)
    renamed: dict[tuple[int, int, int], tuple[int, int | None]] = field(init=False, default_factory=dict)
    """What `renaming` returned, by its arguments."""

    def __post_init__(self) -> None:
        self.number = {name: i for i, name in enumerate(self.terminals)}
        self.rules = [None] * len(self.packed[4])

    def row(self, state: int) -> Row:
        """Return the actions of a state."""
        row = self.rows.get(state)
        if row is None:
            flat = self.packed[0][self.packed[2][state]]
            row = self.rows[state] = dict(zip(flat[::2], flat[1::2], strict=True))
        return row

    def goto(self, state: int) -> Row:
        """Return the goto actions of a state, by nonterminal."""
        row = self.gotos.get(state)
        if row is None:
            flat = self.packed[1][self.packed[3][state]]
            row = self.gotos[state] = dict(zip(flat[::2], flat[1::2], strict=True))
        return row

    def renaming(self, below: int, state: int, terminal: int) -> tuple[int, int | None]:
        """Return the state to which renaming leads before a terminal, and the action there, None for an error."""
        while True:
            action = self.row(state).get(terminal)
            if action is None or action >= 0:
                return state, action
            rule = self.rule(-1 - action)
            if not rule.renames:
                return state, action
            state = self.goto(below)[rule.origin]

    def rule(self, number: int) -> Production:
        """Return a production."""
        rule = self.rules[number]
        if rule is None:
            origin, size, name, keep, single = self.packed[4][number]
            rule = Production(origin, size, name, tuple((i, bool(inline)) for i, inline in keep), bool(single))
            self.rules[number] = rule
        return rule


def grammar_path() -> Path:
    """Return the file that holds the grammar."""
    return resources.root() / "grammar" / "dctv.lark"


def write_table(folder: Path) -> Path:
    """Build the table and write it into a folder, atomically; return its path."""
    from dctv.syntax.compile_grammar import compile_grammar  # lark, which only a developer's checkout has to load

    grammar = grammar_path().read_bytes()
    data = {"key": key(grammar), **compile_grammar(grammar.decode(), STARTS)}
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / FILE
    partial = folder / f"{FILE}.{os.getpid()}"
    partial.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
    partial.replace(target)
    return target


def key(grammar: bytes) -> str:
    """Return the key by which a table matches its grammar: the SHA-256 of the grammar."""
    return sha256(grammar).hexdigest()


def load_table(folder: Path | None = None) -> ParseTable:
    """Load the table, or build it if it is missing or does not match the current grammar."""
    grammar = grammar_path().read_bytes()
    folder = resources.generated() if folder is None else folder
    try:
        data = json.loads((folder / FILE).read_bytes())
        if data["key"] == key(grammar):
            return _unpack(data)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return _rebuild(grammar, folder)


def _rebuild(grammar: bytes, folder: Path) -> ParseTable:
    """Build the table here and now; a folder that cannot be written only costs time."""
    try:
        return _unpack(json.loads(write_table(folder).read_bytes()))
    except OSError:
        from dctv.syntax.compile_grammar import compile_grammar  # as above

        return _unpack(compile_grammar(grammar.decode(), STARTS))


def _unpack(data: dict[str, Any]) -> ParseTable:
    packed = (data["rows"], data["gotos"], data["row_of"], data["goto_of"], data["rules"])
    return ParseTable(
        terminals=data["terminals"],
        keywords=frozenset(data["keywords"]),
        patterns=[(name, pattern) for name, pattern in data["patterns"]],
        ignored=frozenset(data["ignored"]),
        nonterminals=data["nonterminals"],
        starts={name: (first, last) for name, (first, last) in data["starts"].items()},
        packed=packed,
    )
