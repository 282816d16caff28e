"""Compute the layout of each function's data from uftrace's argument specifications (`name@arg1/i32,arg2/s;...`).

Records only flag that arguments follow, not how many or how long they are.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from dctv.patterns import pattern
from dctv.readers.uftrace_files.enums import read_enums
from dctv.readers.uftrace_files.info import Info
from dctv.readers.uftrace_files.symbols import Symbol, SymbolModule
from dctv.record import record

_ITEM = pattern(
    r"(?:arg(?P<arg>\d+)|fparg(?P<fparg>\d+)|retval)"
    r"(?:/(?:(?P<kind>[diuxoscfSp]?)(?P<bits>\d*)|e:(?P<enum>[A-Za-z_][^%]*)|t(?P<bytes>\d+)(?::(?P<struct>[^%]*))?))?"
    r"(?:%(?P<place>.*))?$",
    re.ASCII,
)
_ACTIONS = (
    "arg",
    "fparg",
    "retval",
    "filter",
    "notrace",
    "depth=",
    "time=",
    "size=",
    "caller",
    "hide",
    "trace",
    "finish",
    "callsite",
    "read=",
    "color=",
    "backtrace",
    "recover",
    "auto-args",
    "clear",
    "if:",
)
_SPECIAL = frozenset(".?*+-^$|()[]{}")
_OPERATORS = {
    "_Znwm": "operator new",
    "_Znam": "operator new[]",
    "_ZdlPv": "operator delete",
    "_ZdaPv": "operator delete[]",
    "_Znwj": "operator new",
    "_Znaj": "operator new[]",
}
"""The only mangled names in the recorder's own specifications."""


@record
class ValueSpec:
    """An argument, or the result."""

    index: int
    """0 for the result."""
    kind: str
    """`diuxoscfSpet`, as in a specification."""
    size: int
    type: str
    """Name of the enum or struct, or ''."""
    place: tuple[str, int | str]
    """The identity of an argument: its number, register or stack slot."""


@record
class Layouts:
    """The layouts of all functions."""

    values: Mapping[tuple[int, int], Sequence[ValueSpec]]
    """By number of the module and address in it, in the order of the records."""
    enums: Sequence[tuple[int, str, Sequence[tuple[str, int]]]]
    """Number of the module, -1 for all; name; names of values, highest value first."""
    bad: Sequence[str]
    """Specifications that were not understood."""


@record
class _Spec:
    name: str
    module: str
    values: Sequence[ValueSpec]
    results: bool
    """Whether this pass is for results, not arguments."""
    auto: bool


class _Layouts:
    """Layouts under construction; specifications apply in the recorder's order."""

    def __init__(self, modules: Sequence[SymbolModule], info: Info) -> None:
        self.modules = modules
        self.info = info
        self.found: dict[tuple[int, int], dict[tuple[str, int | str], tuple[ValueSpec, bool]]] = {}
        self.kinds: dict[tuple[int, int], set[bool]] = {}
        """The kinds specified for each function: arguments (False), results (True)."""
        self.bad: list[str] = []
        self.auto = {results: self._auto(results=results) for results in (False, True)}
        self.names = [_by_name(module) for module in modules]

    def _auto(self, *, results: bool) -> dict[str, list[ValueSpec]]:
        if "auto-args" not in self.info.features:
            return {}
        found: dict[str, list[ValueSpec]] = {}
        for spec in self.parse(self.info.spec("retauto" if results else "argauto"), results=results, auto=True):
            found.setdefault(spec.name, []).extend(spec.values)
        return found

    def parse(self, text: str, *, results: bool, auto: bool) -> Iterator[_Spec]:
        """Parse a specification."""
        for one in text.split(";"):
            name, _, rest = one.partition("@")
            if not name:
                continue
            module = ""
            values = []
            for item in rest.split(",") if rest else ():
                if _is_action(item):
                    values += self._value(item, one, results=results)
                else:
                    module = module or item
            yield _Spec(_OPERATORS.get(name, name), module, values, results, auto)

    def _value(self, item: str, whole: str, *, results: bool) -> list[ValueSpec]:
        lower = item.lower()
        if not lower.startswith(("arg", "fparg", "retval")) or lower.startswith("retval") != results:
            return []
        value = parse_value(item, wide=self.info.wide)
        if value is None:
            self.bad.append(whole)
            return []
        return [value]

    def apply(self, spec: _Spec) -> None:
        """Apply a specification to the functions that it matches."""
        exact = _is_exact(spec.name, self.info.pattern)
        matches = spec.name.__eq__ if exact else _matcher(spec.name, self.info.pattern)
        for number, module in enumerate(self.modules):
            if spec.module and not self._in_module(spec.module, module):
                continue
            symbols = self.names[number].get(spec.name, ()) if exact else _matching(module, matches)
            for symbol in symbols:
                if spec.module.upper() == "PLT" and symbol[2] != "P":
                    continue
                self._apply(number, symbol, spec, exact=exact)

    def _in_module(self, wanted: str, module: SymbolModule) -> bool:
        if wanted.upper() == "PLT":
            return module.path == self.info.values.get("exename", module.path)
        return module.name.startswith(wanted)

    def _apply(self, number: int, symbol: Symbol, spec: _Spec, *, exact: bool) -> None:
        key = (number, symbol[0])
        values: Sequence[ValueSpec] = spec.values or self._values_of(number, symbol, results=spec.results)
        kinds = self.kinds.get(key, set())
        if not values or (spec.auto and spec.results in kinds):
            return
        self.kinds.setdefault(key, set()).add(spec.results)
        into = self.found.setdefault(key, {})
        for value in values:
            before = into.get(value.place)
            if before is None:
                into[value.place] = (value, exact)
            elif exact or not before[1]:
                # The number of the first one stays, as in the recorder.
                into[value.place] = (ValueSpec(before[0].index, value.kind, value.size, value.type, value.place), exact)

    def _values_of(self, number: int, symbol: Symbol, *, results: bool) -> list[ValueSpec]:
        """Return a function's values from debug information, or else from the recorder's own list."""
        debug = self.modules[number].debug
        text = (debug.results if results else debug.arguments).get(symbol[0])
        if text is not None:
            values: list[ValueSpec] = []
            for item in text.removeprefix("@").split(","):
                values += self._value(item, text, results=results)
            if values:
                return values
        return self.auto[results].get(symbol[3], [])


def layouts_of(info: Info, modules: Sequence[SymbolModule]) -> Layouts:
    """Return the layout of each function's data."""
    build = _Layouts(modules, info)
    arguments, results = info.spec("argspec"), info.spec("retspec")
    passes = [(arguments, False, False), (results, True, False)]
    if "retval" in arguments:
        passes.append((arguments, True, False))
    if info.auto_args:
        has_debug_info = "debug-info" in info.features
        every = "." if info.pattern == "regex" else "*"
        passes.append((every if has_debug_info else info.spec("argauto"), False, True))
        passes.append((every if has_debug_info else info.spec("retauto"), True, True))
    for text, about_results, auto in passes:
        for spec in build.parse(text, results=about_results, auto=auto):
            build.apply(spec)
    values = {key: [value for value, _ in found.values()] for key, found in build.found.items()}
    enums = [(-1, name, members) for name, members in read_enums(info.spec("enumauto"))]
    for number, module in enumerate(modules):
        for text in module.debug.enums:
            enums += [(number, name, members) for name, members in read_enums(text)]
    return Layouts(values, enums, build.bad)


def parse_value(text: str, *, wide: bool) -> ValueSpec | None:
    """Parse `arg1/i32%rdi`, `fparg2/64`, `retval/s` or the like; None if it is something else."""
    found = _ITEM.match(text)
    if found is None:
        return None
    index = int((found["arg"] or found["fparg"] or "0")[:6])
    real = found["fparg"] is not None or (found["kind"] or "") == "f"
    kind = found["kind"] or ("f" if real else "d")
    size = _size(found, kind, wide=wide)
    if found["enum"]:
        kind = "e"
    elif found["bytes"]:
        kind = "t"
    if size is None:
        return None
    place: tuple[str, int | str] = ("float" if real else "number", index)
    if found["place"]:
        where = found["place"].lower()
        place = ("stack", where[5:]) if where.startswith("stack") else ("register", where.partition("+")[0])
        if kind == "t" and not where.startswith("stack"):
            place = ("register", where.rpartition("+")[2])
    return ValueSpec(index, kind, size, found["enum"] or found["struct"] or "", place)


def _size(found: re.Match[str], kind: str, *, wide: bool) -> int | None:
    if found["bytes"]:
        return int(found["bytes"][:6])
    if found["bits"]:
        bits = int(found["bits"][:6])
        allowed = (8, 16, 32, 64, 80) if kind == "f" else (8, 16, 32, 64)
        return bits // 8 if bits in allowed else None
    if kind == "c":
        return 1
    return 8 if wide or kind == "f" else 4


def _is_action(item: str) -> bool:
    return item.lower().startswith(_ACTIONS)


def _is_exact(name: str, pattern: str) -> bool:
    return pattern == "simple" or _SPECIAL.isdisjoint(name) or (pattern == "regex" and name.startswith("operator "))


def _matcher(name: str, pattern: str) -> Callable[[str], bool]:
    if pattern == "glob":
        return lambda one: fnmatch.fnmatchcase(one, name)
    try:
        found = re.compile(name)
    except re.error:
        return name.__eq__
    return lambda one: found.search(one) is not None


def _matching(module: SymbolModule, matches: Callable[[str], bool]) -> Iterator[Symbol]:
    return (symbol for symbol in module.symbols if matches(symbol[3]))


def _by_name(module: SymbolModule) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = {}
    for symbol in module.symbols:
        found.setdefault(symbol[3], []).append(symbol)
    return found
