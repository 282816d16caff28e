"""Turn units.txt into a table of every unit name with its size and dimensions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache

from dctv.errors import UnitError, nearest
from dctv.record import record
from dctv.resources import root
from dctv.types.unit_text import Terms, read_terms

Dimensions = tuple[tuple[str, Fraction], ...]
"""Base dimensions with their powers, sorted by name, none with power 0."""

_KILO = Fraction(1000)
_LONG_PREFIX = 3
"""Prefixes of this length and longer are words (`exa`, `kilo`), which do not go before symbols (`kilom`)."""

_WITHOUT = (
    ({"month", "months"}, "months differ in length, write days"),
    (
        {"celsius", "degc", "fahrenheit", "degf"},
        "scales with a zero of their own are not supported, write kelvins or unitless numbers",
    ),
    ({"radian", "radians", "rad", "degree", "degrees", "deg"}, "angles have no unit here, write plain numbers"),
)
"""Names that are excluded on purpose, with a hint."""


@record
class Symbol:
    """A unit with a name of its own: its printed form, its dimension, and its size in base units."""

    text: str
    name: str
    """Its name in full: `kilobyte`."""
    dimensions: Dimensions
    factor: Fraction


@record
class _Prefix:
    """A prefix: all its spellings, first the one that prints, last its name, and its factor."""

    spellings: tuple[str, ...]
    factor: Fraction
    binary: bool


@record
class _Definition:
    """A line of units.txt that defines a unit."""

    group: str
    name: str
    value: str
    symbol: str
    aliases: tuple[str, ...]


@record(frozen=False)
class _Table:
    """All names: of symbols, and of shorthands with their terms."""

    symbols: dict[str, Symbol]
    shorthands: dict[str, Terms]
    bases: dict[str, str]
    """The printed symbol of the base unit of each dimension."""
    listed: list[str]
    """The names in units.txt, without prefixes, in its order."""


def known_units() -> list[str]:
    """Return all names of units, those of units.txt first, then those with prefixes."""
    table = _table()
    listed = set(table.listed)
    return [*table.listed, *(name for name in table.symbols if name not in listed)]


def find_terms(name: str) -> Terms:
    """Resolve a name to printed symbols with powers; raise UnitError if it is unknown or ambiguous."""
    table = _table()
    written = _spelling(name)
    if written in table.shorthands:
        return table.shorthands[written]
    return {table.symbols[written].text: Fraction(1)}


def symbol(text: str) -> Symbol:
    """Return the unit with a name that is known to exist."""
    return _table().symbols[text]


def base_symbol(dimension: str) -> str:
    """Return the printed symbol of the base unit of a dimension."""
    return _table().bases[dimension]


def scale(terms: Iterable[tuple[str, Fraction]]) -> tuple[Dimensions, list[tuple[Fraction, Fraction]]]:
    """Return the dimensions of a product of symbols, and the factors of the symbols with their powers."""
    return _scale(terms, _table().symbols)


def _scale(
    terms: Iterable[tuple[str, Fraction]], symbols: Mapping[str, Symbol]
) -> tuple[Dimensions, list[tuple[Fraction, Fraction]]]:
    powers: dict[str, Fraction] = {}
    factors = []
    for name, power in terms:
        found = symbols[name]
        factors.append((found.factor, power))
        for dimension, own in found.dimensions:
            powers[dimension] = powers.get(dimension, Fraction(0)) + own * power
    return tuple(sorted((d, p) for d, p in powers.items() if p)), factors


def _spelling(name: str) -> str:
    """Return the name as the table has it: exact, else the only one that differs in case."""
    table = _table()
    if name in table.symbols or name in table.shorthands:
        return name
    everything = known_units()
    # One letter is ambiguous: `M` may be a metre or a minute.
    same = [k for k in everything if k.lower() == name.lower()] if len(name) > 1 else []
    if len({_meaning(k) for k in same}) == 1:
        return same[0]
    if same:
        candidates = " or ".join(f"`{k}` ({_meaning(k)})" for k in same)
        raise UnitError(f"the unit `{name}` is ambiguous, expected {candidates}")
    raise UnitError(f"unknown unit `{name}`", hint=_hint(name, table))


_PREFIXES = {"k": "1e3", "K": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15"}
_PREFIXES |= {"Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776"}
"""Usual prefixes of amounts, with their factors for bare numbers."""


_USUAL = "ns, us, ms, s, min, h, B, kB, MiB and Hz are units; `.units` at the prompt lists all"


def _hint(name: str, table: _Table) -> str:
    """Return a suggestion for an unknown name."""
    for names, way_out in _WITHOUT:
        if name.lower() in names:
            return way_out
    if name in _PREFIXES:
        power = _PREFIXES[name]
        minutes = ", `min` minutes" if name == "M" else ""
        return f"`{name}` is a prefix: `{name}B` is bytes, `{name}Hz` a frequency{minutes}, `{power}` a bare number"
    # There are too many abbreviations with prefixes: one of them is near to anything.
    near = nearest(name, [*(symbol.name for symbol in table.symbols.values()), *table.listed])
    return f"did you mean `{near}`?" if near else _USUAL


def _meaning(name: str) -> str:
    table = _table()
    return table.symbols[name].name if name in table.symbols else name


@cache
def _table() -> _Table:
    prefixes: list[_Prefix] = []
    table = _Table({}, {}, {}, [])
    prefixed: dict[str, Symbol] = {}
    for entry in _read_lines((root() / "units.txt").read_text(encoding="utf-8")):
        if isinstance(entry, _Prefix):
            prefixes.append(entry)
        else:
            _define(entry, table, prefixed, prefixes)
    for name, unit in prefixed.items():
        table.symbols.setdefault(name, unit)
    return table


def _define(entry: _Definition, table: _Table, prefixed: dict[str, Symbol], prefixes: list[_Prefix]) -> None:
    """Add the names of a definition, which may use all that are defined above it."""
    names = list(filter(None, (entry.name, entry.symbol, *entry.aliases)))
    symbols = ChainMap(table.symbols, prefixed)
    for name in names:
        assert name not in table.symbols, f"units.txt defines {name} twice"
    table.listed.extend(names)
    if entry.group == "shorthand":
        terms = {symbols[n].text: power for n, power in read_terms(entry.value)[1].items()}
        table.shorthands.update(dict.fromkeys(names, terms))
        return
    unit = _measure(entry, symbols)
    if entry.value.startswith("["):
        table.bases[unit.dimensions[0][0]] = unit.text
    table.symbols.update(dict.fromkeys(names, unit))
    for prefix in prefixes:
        if _takes(entry.group, prefix):
            larger = _enlarge(unit, prefix)
            for full in _prefixed(prefix, names, entry.symbol):
                assert full not in prefixed, f"units.txt gives {full} two meanings"
                prefixed[full] = larger


def _enlarge(unit: Symbol, prefix: _Prefix) -> Symbol:
    printed = prefix.spellings[0] + unit.text
    return Symbol(printed, prefix.spellings[-1] + unit.name, unit.dimensions, unit.factor * prefix.factor)


def _measure(entry: _Definition, symbols: Mapping[str, Symbol]) -> Symbol:
    """Return the unit that a definition defines."""
    printed = entry.symbol or entry.name
    if entry.value.startswith("["):
        return Symbol(printed, entry.name, ((entry.value.strip("[]"), Fraction(1)),), Fraction(1))
    factor, parts = read_terms(entry.value)
    dimensions, factors = _scale(parts.items(), symbols)
    for size, power in factors:
        assert power.denominator == 1, f"units.txt takes a root in {entry.name}"
        factor *= size**power.numerator
    return Symbol(printed, entry.name, dimensions, factor)


def _prefixed(prefix: _Prefix, names: list[str], symbol_name: str) -> Iterator[str]:
    """Return every spelling of a unit with every spelling of a prefix."""
    for spelling in prefix.spellings:
        for name in names:
            if len(spelling) < _LONG_PREFIX or name != symbol_name:
                yield spelling + name


def _takes(group: str, prefix: _Prefix) -> bool:
    if group == "decimal":
        return not prefix.binary
    if group == "digital":
        return prefix.factor >= _KILO
    return group == "large" and prefix.factor >= _KILO and not prefix.binary


def _read_lines(text: str) -> Iterator[_Prefix | _Definition]:
    group = ""
    for line in text.splitlines():
        content = line.partition("#")[0].strip()
        if content.startswith("@"):
            group = content.removeprefix("@group").strip()
        elif content:
            name, value, *others = (part.strip() for part in content.split("="))
            if name.endswith("-"):
                spellings = tuple(s.removesuffix("-") for s in (*others, name))
                yield _Prefix(spellings, Fraction(value), binary="e" not in value)
            else:
                printed = others[0] if others and others[0] != "_" else ""
                yield _Definition(group, name, value, printed, tuple(others[1:]))
