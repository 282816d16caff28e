"""Reads a command line that is as declared; whatever else there is, such as mistakes and `--help`, is for `argparse`.

To load `argparse` and to tell it of all arguments takes longer than to read most command lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, cast

from dctv.record import field, record

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_ACTIONS = {"store", "store_true", "append"}
_TOLD = {"action", "choices", "default", "help", "metavar", "nargs", "type"}


@record
class _Argument:
    """An argument as it was declared."""

    target: str
    action: str = "store"
    default: Any = None
    type: Callable[[str], Any] = str
    choices: Sequence[str] | None = None
    nargs: str | None = None
    group: object = None
    """Arguments of one group exclude each other."""


class _Special(Exception):
    """There is something that `argparse` has to look at."""


class _Judgement:
    """A context in which anything that is raised is something for `argparse` to look at, and to tell of."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if isinstance(error, Exception):
            raise _Special from None


@record
class _Declared:
    """Takes declarations as a parser of `argparse` does."""

    options: dict[str, _Argument] = field(default_factory=dict)
    words: list[_Argument] = field(default_factory=list)
    group: object = None

    def add_argument(self, *names: str, **told: Any) -> None:
        """Declare an argument."""
        if told.keys() - _TOLD or told.get("action", "store") not in _ACTIONS:
            raise _Special
        target = next((name for name in names if name.startswith("--")), names[0]).lstrip("-").replace("-", "_")
        default = told.get("default", False if told.get("action") == "store_true" else None)
        known = {name: value for name, value in told.items() if name not in {"help", "metavar", "default"}}
        argument = _Argument(target, default=default, group=self.group, **known)
        if not names[0].startswith("-"):
            self.words.append(argument)
        elif argument.nargs is not None or (isinstance(default, str) and argument.type is not str):
            raise _Special
        self.options.update((name, argument) for name in names if name.startswith("-"))

    def add_mutually_exclusive_group(self) -> _Declared:
        """Begin a group."""
        return _Declared(self.options, self.words, object())


def plain_arguments(configure: Callable[[ArgumentParser], None], words: Sequence[str]) -> Namespace | None:
    """Return the arguments of a command line; None if it is not plain."""
    declared = _Declared()
    try:
        with _Judgement():
            configure(cast("ArgumentParser", declared))
            return cast("Namespace", _read(declared, iter(words)))
    except _Special:
        return None


def refusal(text: str) -> Exception:
    """Return the error of an argument's type that says why a word is none."""
    from argparse import ArgumentTypeError

    return ArgumentTypeError(text)


def _read(declared: _Declared, words: Iterator[str]) -> SimpleNamespace:
    found = SimpleNamespace(**{one.target: one.default for one in declared.options.values()})
    [argument] = declared.words
    met: dict[object, _Argument] = {}
    others: list[Any] = []
    for word in words:
        if not word.startswith("-"):
            others.append(_value(argument, word))
            continue
        option = declared.options[word]
        if option.group is not None and met.setdefault(option.group, option) is not option:
            raise _Special
        _take(option, words, found)
    if not others or (argument.nargs not in {"*", "+"} and len(others) > 1):
        raise _Special
    setattr(found, argument.target, others if argument.nargs in {"*", "+"} else others[0])
    return found


def _take(option: _Argument, words: Iterator[str], found: SimpleNamespace) -> None:
    """Note an option, with the word that follows if it wants one."""
    if option.action == "store_true":
        setattr(found, option.target, True)
        return
    word = next(words)
    if word.startswith("-"):
        raise _Special
    value = _value(option, word)
    setattr(found, option.target, [*getattr(found, option.target), value] if option.action == "append" else value)


def _value(argument: _Argument, word: str) -> Any:
    value = argument.type(word)
    if argument.choices is not None and value not in argument.choices:
        raise _Special
    return value
