"""Parse the reference tool's text into events with their time, name and field values, to compare rows with."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_TIME = re.compile(r"\[(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{9})\] ")
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^\s,{}\[\]()=:"]+)|(.))', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}


@dataclass
class Event:
    """A line: time in ns or None, name, and the fields of all scopes in order, each with its value."""

    ts: int | None
    name: str
    scopes: list[dict[str, Any]]


@dataclass
class Enumerated:
    """A value with its label, which is None if it has none."""

    label: str | None
    value: str


@dataclass
class Chosen:
    """The value of a variant."""

    value: Any


def read(lines: Iterator[str], names: frozenset[str]) -> Iterator[Event]:
    """Give the events of a text; `names` are all that there may be, since names may hold any character."""
    for line in lines:
        text, ts = line.rstrip("\n"), None
        found = _TIME.match(text)
        if found:
            *date, fraction = (int(part) for part in found.groups())
            ts = calendar.timegm((*date, 0, 0, 0)) * 10**9 + fraction
            text = text[found.end() :]
        name = max((one for one in names if f"{one}: " in text or text.endswith(f"{one}:")), key=len)
        start = text.index(f"{name}:") + len(name) + 1
        yield Event(ts, name, list(_scopes(text[start:].strip())))


def _scopes(text: str) -> Iterator[dict[str, Any]]:
    tokens = _Tokens(text)
    while tokens.peek() == "{":
        found = tokens.value()
        yield found if isinstance(found, dict) else {}
        tokens.take(",")


class _Tokens:
    def __init__(self, text: str) -> None:
        self._found = [(quoted, word or mark) for quoted, word, mark in _TOKEN.findall(text)]
        self._at = 0

    def peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        quoted, other = self._found[place] if place < len(self._found) else ("", "")
        return quoted or other

    def next(self) -> str:
        self._at += 1
        return self.peek(-1)

    def take(self, mark: str) -> bool:
        if self.peek() == mark:
            self._at += 1
            return True
        return False

    def value(self) -> Any:
        token = self.next()
        if token == "{":
            return self._struct()
        if token == "[":
            return self._array()
        if token == "(":
            return self._enum()
        if token.startswith('"'):
            return _text(token)
        return token

    def _struct(self) -> Any:
        if self.peek(1) != "=" and self.peek() != "}":
            found = self.value()
            self.take("}")
            return Chosen(found)
        members: dict[str, Any] = {}
        while not self.take("}"):
            name = self.next()
            assert self.take("="), name
            members[name] = self.value()
            self.take(",")
        return members

    def _array(self) -> list[Any]:
        items = []
        while not self.take("]"):
            assert self.take("[")
            self.next()
            assert self.take("]")
            assert self.take("=")
            items.append(self.value())
            self.take(",")
        return items

    def _enum(self) -> Enumerated:
        label = self.next()
        while self.peek() != ":":
            self.next()
        self.next()
        assert self.next() == "container"
        assert self.take("=")
        value = self.next()
        assert self.take(")")
        return Enumerated(_text(label) if label.startswith('"') else None, value)


def _text(token: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1])


def flat(scope: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Give the fields of a scope as columns are named: structures joined by an underscore."""
    for name, value in scope.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", value


def same(truth: Any, value: Any) -> bool:
    """Whether a value of a row is what the text says."""
    match truth:
        case Enumerated(label=None):
            return same(truth.value, value)
        case Enumerated():
            return bool(value == truth.label)
        case Chosen():
            return same(truth.value, value)
        case list():
            return isinstance(value, list) and len(truth) == len(value) and all(map(same, truth, value))
        case dict():
            return isinstance(value, dict) and all(map(same, truth.values(), value.values()))
    return _same_scalar(truth, value)


def _same_scalar(truth: str, value: Any) -> bool:
    if isinstance(value, bool):
        return truth == str(int(value))
    if isinstance(value, float):
        return truth == f"{value:g}"
    if isinstance(value, int) and truth.startswith("0x"):
        return any(value & ((1 << bits) - 1) == int(truth, 16) for bits in (8, 16, 32, 64))
    if isinstance(value, int):
        return int(truth, 8 if len(truth) > 1 and truth.startswith("0") else 10) == value
    return bool(truth == value)
