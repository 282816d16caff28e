"""Complete the text before the cursor: keywords, tables, columns, functions, units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from dctv.errors import DctvError
from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax.complete import CompletionContext, context, expected_keywords, tokens
from dctv.syntax.keywords import RESERVED
from dctv.syntax.open_call import open_call
from dctv.syntax.statements import cut
from dctv.syntax.write.writer import dotted
from dctv.types.schema import Schema
from dctv.types.units import known_units

_UNFINISHED = pattern(r"(?<![\w`.])(?:\w|`[^`]*+`|\.)*+$")
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO"})
MOST = 300
"""The maximum number of candidates; longer lists are no help."""
_USED = {
    unit: place
    for place, unit in enumerate(
        ("ms", "us", "ns", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "kB", "MB", "GB", "Hz", "kHz", "MHz", "GHz")
    )
}
"""Units in the order in which they are offered."""
_COMMON_NAMES = """
abs any_value avg coalesce contains count first lag last lead length lower max median min quantile_cont rank
round row_number stddev string_agg substr sum upper
"""
_COMMON = frozenset(_COMMON_NAMES.split())
"""Functions that are offered before others."""
_RARE = ("collate_", "__", "json_serialize", "icu_", "pg_", "current_setting")
"""Prefixes of functions that are offered last."""
_BARE = pattern(r"[^\W\d]\w*")


_CALLED = frozenset({"function", "macro", "table macro"})
"""Kinds of names that take arguments."""
_NO_TABLES = frozenset({"macro", "type"})
"""Kinds of names that FROM does not accept."""


class ListedName(Protocol):
    """A name that FROM accepts."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts, without quotes."""

    @property
    def written(self) -> str:
        """The whole of it, with dots, as in a query."""

    @property
    def kind(self) -> str:
        """Its kind, such as `table` or `view`."""

    @property
    def doc(self) -> str:
        """Its description."""


class KnownNames(Protocol):
    """The names that a session knows."""

    def tables(self, prefix: str = "") -> Sequence[ListedName]:
        """Return the names that FROM accepts."""

    def columns(self, name: str) -> Schema | None:
        """Return the schema of a table, None if there is no such table."""

    def functions(self) -> Sequence[str]:
        """Return the names of functions."""

    def parameters(self, name: str) -> Sequence[str]:
        """Return the names of the parameters of a table-valued function, none if there is no such function."""

    def usage(self, name: str) -> str:
        """Return the usage of a function, empty if there is no such function."""


@record
class Candidate:
    """A possible replacement for the word that is being typed."""

    text: str
    about: str
    """A kind such as `keyword` or `view`; for columns their table and unit; for functions their usage."""


@record
class Candidates:
    """The candidates, and how much of them is typed already."""

    typed: int
    """The number of characters before the cursor that each of them replaces."""
    found: Sequence[Candidate]


def candidates(catalog: KnownNames, before: str, after: str = "") -> Candidates:
    """Return the candidates at the cursor between two texts, columns first."""
    begin = cut(before).rest
    typed = context(before[begin:])
    whole = f"{_UNFINISHED.sub('', before[begin:])}_ {after}"
    words = [*_arguments(catalog, before[begin : len(before) - len(typed.word)], typed), *_names(catalog, typed, whole)]
    if "keyword" in typed.kinds:
        lower = typed.word.islower()
        words += [(k.lower() if lower else k, "keyword") for k in expected_keywords(before[begin:])]
    found = matching(typed.word, words)
    return Candidates(len(typed.word), [_with_usage(catalog, typed.prefix, one) for one in found])


def _with_usage(catalog: KnownNames, prefix: tuple[str, ...], one: Candidate) -> Candidate:
    if one.about not in _CALLED:
        return one
    name = ".".join(_unquoted(part) for part in (*prefix, one.text))
    return Candidate(one.text, catalog.usage(name) or one.about)


def _names(catalog: KnownNames, typed: CompletionContext, statement: str) -> Iterator[tuple[str, str]]:
    if "unit" in typed.kinds:
        yield from ((_quoted(unit), "unit") for unit in by_use(known_units()))
    if "column" in typed.kinds:
        yield from _columns(catalog, typed.prefix, statement)
    if "table" in typed.kinds:
        tables = ((one.parts, one.kind) for one in catalog.tables() if one.kind not in _NO_TABLES)
        yield from _next_parts(typed.prefix, tables)
    if "function" in typed.kinds and (typed.word or typed.prefix):
        names = sorted(catalog.functions(), key=lambda name: (_rank_of_function(name), name))
        yield from _next_parts(typed.prefix, ((tuple(name.split(".")), "function") for name in names))


def _arguments(catalog: KnownNames, before: str, typed: CompletionContext) -> Iterator[tuple[str, str]]:
    """Yield the names of arguments of the table-valued function in whose parentheses the cursor is."""
    call = None if typed.prefix or not typed.kinds else open_call(before)
    if call is not None:
        for name in catalog.parameters(call.name):
            if name.lower() not in call.given:
                yield f"{_quoted(name)} => ", "argument"


def by_use(units: Iterable[str]) -> list[str]:
    """Return units sorted: those that traces are full of first, then short names before long ones."""
    return sorted(units, key=lambda unit: (_USED.get(unit, len(_USED)), len(unit), unit))


def _rank_of_function(name: str) -> int:
    """Return the rank of a function: 0 for common aggregates and arithmetic, 2 for rarely used ones."""
    return 0 if name in _COMMON else 2 if name.startswith(_RARE) else 1


def _columns(catalog: KnownNames, prefix: tuple[str, ...], statement: str) -> Iterator[tuple[str, str]]:
    """Yield columns of the tables that a statement reads, those first that it names already."""
    qualifier = ".".join(prefix)
    used = {_unquoted(statement[start:stop]).lower() for start, stop, colour in tokens(statement) if colour == "name"}
    found: list[tuple[str, str]] = []
    for label, table in tables_in(statement):
        if qualifier and qualifier not in {label, table}:
            continue
        with suppress(DctvError):
            schema = catalog.columns(table)
            columns = schema.columns if schema is not None else ()
            found.extend((one.name, f"{label} [{one.unit}]" if str(one.unit) else label) for one in columns)
    found.sort(key=lambda one: one[0].lower() not in used)
    yield from ((_quoted(name), about) for name, about in found)
    if not qualifier:
        yield from ((_quoted(label), "table") for label, _ in tables_in(statement))


def tables_in(statement: str) -> list[tuple[str, str]]:
    """Return the tables that a statement reads from, each as (alias or last part, name as in a query)."""
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
        return position + 1, [(_unquoted(marked[position][0]), dotted(names))]
    return position, [(names[-1], dotted(names))]


def _next_parts(prefix: tuple[str, ...], names: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[tuple[str, str]]:
    """Yield the part that follows a prefix in each name, namespaces with a dot at the end."""
    start, place = tuple(map(_unquoted, prefix)), len(prefix)
    seen: set[str] = set()
    for name, kind in names:
        if name[:place] != start or len(name) == place:
            continue
        part, dot = name[place], "." if len(name) > place + 1 else ""
        if part + dot not in seen:
            seen.add(part + dot)
            yield _quoted(part) + dot, "namespace" if dot else kind


def matching(word: str, words: Iterable[tuple[str, str]]) -> list[Candidate]:
    """Return the distinct words that start with `word`, ignoring case and quotes."""
    found: dict[str, Candidate] = {}
    begin = word.replace("`", "").lower()
    for text, about in words:
        if text not in found and text.replace("`", "").lower().startswith(begin):
            found[text] = Candidate(text, about)
            if len(found) == MOST:
                break
    return list(found.values())


def _quoted(name: str) -> str:
    if _BARE.fullmatch(name) and name.upper() not in RESERVED:
        return name
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def _unquoted(name: str) -> str:
    if name[:1] in {"`", '"'} and name[-1:] == name[0]:
        return name[1:-1].replace(name[0] * 2, name[0])
    return name
