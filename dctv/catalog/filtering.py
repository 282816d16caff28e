"""Apply filters of a mount: its views of calls and slices show only what passes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from dctv.calls.language import ARGUMENTS, rules_of
from dctv.calls.rules import MATCHES, Match
from dctv.catalog.namespace import Catalog, View
from dctv.catalog.stdlib import StandardLibrary
from dctv.errors import SourceText, UsageError
from dctv.syntax.parse import parse_select

_NUMBERS = ("depth", "time", "size")
FILTERS = (*ARGUMENTS, *_NUMBERS, "match", "trace")
"""Options of a mount that are arguments of `dctv.filter_calls`."""
_HIDDEN, _WHOLE = "_built", "unfiltered_"


def arguments(options: Mapping[str, object]) -> str:
    """Write the options as arguments of `dctv.filter_calls`.

    Raises:
        UsageError: one of them is invalid.
    """
    return ", ".join(_arguments(options))


def _arguments(options: Mapping[str, object]) -> Iterator[str]:
    match = _match(options.get("match", "regex"))
    for name, value in options.items():
        if name in ARGUMENTS:
            words = value if isinstance(value, list) else [value]
            texts = [word for word in words if isinstance(word, str)]
            if len(texts) < len(words):
                raise UsageError(f"`{name}` is a text or a list of texts")
            list(rules_of(ARGUMENTS[name], texts, match))
            yield f"{name}=>[{', '.join(_quoted(text) for text in texts)}]"
        elif name in _NUMBERS:
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise UsageError(f"`{name}` is a whole number from 0")
            yield f"{name}=>{value}{'ns' if name == 'time' else ''}"
        elif name == "trace" and value not in ("on", "off"):
            raise UsageError(f"`trace` is `on` or `off`, found `{value}`")
        else:
            yield f"{name}=>{_quoted(str(value))}"


def _match(value: object) -> Match:
    for one in MATCHES:
        if one == value:
            return one
    raise UsageError(f"`match` is {' or '.join(MATCHES)}, found `{value}`")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def filter_views(catalog: Catalog, home: tuple[str, ...], reader: str, library: StandardLibrary, words: str) -> None:
    """Insert filters, as arguments of `dctv.filter_calls`, between a mount's calls and their readers.

    If a trace has no function calls, `calls` shows its slices, which are filtered already.
    """
    recorded = any(module.covers(reader) for module in library.sources["calls"])
    for name in ("slices", "calls") if recorded else ("slices",):
        found = catalog.find((*home, name))
        if found is None or not isinstance(found[0], View):
            continue
        catalog.add((*home, _HIDDEN, f"{_WHOLE}{name}"), found[0])
        catalog.drop((*home, name))
        catalog.add((*home, name), _filtered(found[0], name, words))


def _filtered(whole: View, name: str, words: str) -> View:
    text = f"SELECT * FROM dctv.filter_calls({_HIDDEN}.{_WHOLE}{name}, {words})"
    select = cache(lambda: parse_select(SourceText(f"filtered {name}", text)))
    return View(select, home=whole.home, doc=whole.doc, warns_if_empty=whole.warns_if_empty)
