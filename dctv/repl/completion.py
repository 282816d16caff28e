"""Turns what is typed so far into what may follow: keywords, tables, columns, functions, units, files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from dctv.errors import DctvError
from dctv.patterns import pattern
from dctv.repl.commands import COMMANDS, modes
from dctv.repl.statements import cut
from dctv.session import Session
from dctv.syntax.complete import Context, context, expected_keywords, tokens
from dctv.syntax.keywords import RESERVED
from dctv.types.units import known_units

_IN_PATH = pattern(r"(?:\bMOUNT\s+TRACE\s+'|^\s*\.read\s+|^\s*\.mount\s+\w+=)([^'\n]*)$", re.IGNORECASE)
_COMMAND = pattern(r"\s*\.(\w*)(\s+)?(\S*)$")
_UNFINISHED = pattern(r"(?<![\w`.])(?:\w|`[^`]*+`|\.)*+$")
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO"})
MOST = 300
"""More candidates than that help nobody to choose."""
_BARE = pattern(r"[^\W\d]\w*")


class SqlCompleter(Completer):
    """Completes at the cursor from the grammar and from what the session knows."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield what may stand at the cursor, columns first."""
        text = document.text_before_cursor
        in_path = _IN_PATH.search(text)
        if in_path is not None:
            yield from self._paths.get_completions(Document(in_path[1]), complete_event)
            return
        command = _COMMAND.match(text)
        if command is not None:
            yield from self._of_command(command)
            return
        begin = cut(text).rest
        typed = context(text[begin:])
        whole = f"{_UNFINISHED.sub('', text[begin:])}_ {document.text_after_cursor}"
        words = self._names(typed, whole)
        if "keyword" in typed.kinds:
            lower = typed.word.islower()
            found = expected_keywords(text[begin:])
            words = [*words, *((k.lower() if lower else k, "keyword") for k in found)]
        yield from _matching(typed.word, words)

    def _of_command(self, command: re.Match[str]) -> Iterator[Completion]:
        name, blanks, argument = command.groups()
        if not blanks:
            yield from _matching(name, [(known, "") for known in COMMANDS])
        elif name == "mode":
            yield from _matching(argument, [(mode, "") for mode in modes()])
        elif name in {"schema", "tables"}:
            infos = self._session.tables()
            yield from _matching(argument, [(info.name, info.kind) for info in infos])

    def _names(self, typed: Context, statement: str) -> list[tuple[str, str]]:
        words: list[tuple[str, str]] = []
        if "unit" in typed.kinds:
            shortest = sorted(known_units(), key=lambda unit: (len(unit), unit))
            words.extend((_quoted(unit), "unit") for unit in shortest)
        if "column" in typed.kinds:
            words.extend(self._columns(typed.prefix, statement))
        if "table" in typed.kinds:
            infos = self._session.tables()
            words.extend(_next_parts(typed.prefix, ((info.name, info.kind) for info in infos)))
        if "function" in typed.kinds and (typed.word or typed.prefix):
            words.extend(_next_parts(typed.prefix, ((name, "function") for name in self._session.functions())))
        return words

    def _columns(self, prefix: tuple[str, ...], statement: str) -> Iterator[tuple[str, str]]:
        wanted = ".".join(prefix)
        for label, table in tables_in(statement):
            if wanted and wanted not in {label, table}:
                continue
            with suppress(DctvError):
                schema = self._session.columns(table)
                for column in schema.columns if schema is not None else ():
                    yield _quoted(column.name), f"{label} [{column.unit}]" if str(column.unit) else label
        if not wanted:
            yield from ((_quoted(label), "table") for label, _ in tables_in(statement))


def tables_in(statement: str) -> list[tuple[str, str]]:
    """Return the tables that a statement reads from, each as (alias or last part, dotted name)."""
    found: list[tuple[str, str]] = []
    marked = [(statement[start:stop], colour) for start, stop, colour in tokens(statement) if colour != "comment"]
    position = 0
    while position < len(marked):
        text, colour = marked[position]
        position += 1
        if colour != "keyword" or text.upper() not in _BEFORE_TABLES:
            continue
        reading = True
        while reading:
            position, table = _table_at(marked, position)
            found.extend(table)
            reading = bool(table) and position < len(marked) and marked[position][0] == ","
            position += reading
    return found


def _table_at(marked: Sequence[tuple[str, str]], position: int) -> tuple[int, list[tuple[str, str]]]:
    """Read a dotted name and its alias; return the position after them and the table, if there is one."""
    names: list[str] = []
    while position < len(marked) and marked[position][1] == "name":
        names.append(_unquoted(marked[position][0]))
        position += 1
        if position == len(marked) or marked[position][0] != ".":
            break
        position += 1
    if not names:
        return position, []
    if position < len(marked) and marked[position][0].upper() == "AS":
        position += 1
    if position < len(marked) and marked[position][1] == "name":
        return position + 1, [(_unquoted(marked[position][0]), ".".join(names))]
    return position, [(names[-1], ".".join(names))]


def _next_parts(prefix: tuple[str, ...], names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the part that follows a prefix in each dotted name, namespaces with a dot at the end."""
    start = "".join(f"{_unquoted(part)}." for part in prefix)
    seen: set[str] = set()
    for name, kind in names:
        if not name.startswith(start):
            continue
        part, dot, _ = name[len(start) :].partition(".")
        if part + dot not in seen:
            seen.add(part + dot)
            yield _quoted(part) + dot, "namespace" if dot else kind


def _matching(word: str, words: Iterable[tuple[str, str]]) -> Iterator[Completion]:
    """Yield the words that go on where `word` ends, whatever its case, each once."""
    seen: set[str] = set()
    for candidate, about in words:
        if candidate in seen or not candidate.lstrip("`").lower().startswith(word.lower()):
            continue
        seen.add(candidate)
        yield Completion(candidate, -len(word), display_meta=about)
        if len(seen) == MOST:
            return


def _quoted(name: str) -> str:
    if _BARE.fullmatch(name) and name.upper() not in RESERVED:
        return name
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def _unquoted(name: str) -> str:
    if name[:1] in {"`", '"'} and name[-1:] == name[0]:
        return name[1:-1].replace(name[0] * 2, name[0])
    return name
