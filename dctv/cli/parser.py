"""Report invalid arguments in the style of all other errors, with the most similar option or choice."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from dctv.errors import UsageError, nearest


class RaisingParser(argparse.ArgumentParser):
    """A parser that raises instead of printing its usage and exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the error for invalid arguments.

        Raises:
            UsageError: always.
        """
        name, _, rest = message.removeprefix("argument ").partition(": ")
        name = name.partition("/")[0]
        if name == "unrecognized arguments":
            raise self._unknown(rest.split(" ")[0])
        if name == "the following arguments are required":
            raise UsageError(f"found no {rest.partition(',')[0]}", hint=self._help())
        if message.startswith("argument "):
            raise self._unfit(name, rest)
        raise UsageError(message, hint=self._help())

    def _unknown(self, word: str) -> UsageError:
        if not word.startswith("-"):
            return UsageError(f"found `{word}`, expected no further argument", hint=self._help())
        option = word.partition("=")[0]
        near = nearest(option, [o for action in self._actions for o in action.option_strings])
        return UsageError(f"unknown option `{option}`", hint=f"did you mean `{near}`?" if near else self._help())

    def _unfit(self, name: str, rest: str) -> UsageError:
        """Return the error for an invalid value of an argument."""
        choice = re.fullmatch(r"invalid choice: (.*) \(choose from (.*)\)", rest)
        if choice is not None:
            found, choices = choice[1].strip("'"), [word.strip("'") for word in choice[2].split(", ")]
            near = nearest(found, choices)
            hint = f"did you mean `{near}`?" if near else None
            if name == "COMMAND":
                return UsageError(f"unknown command `{found}`", hint=hint or self._help())
            expected = choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
            shown = f"{name} {found}" if name.startswith("-") else found
            return UsageError(f"found `{shown}`, expected {expected}", hint=hint)
        if rest.startswith(("expected one argument", "expected at least")):
            return UsageError(f"found `{name}` without a value", hint=self._help())
        match = re.fullmatch("found `(?P<found>.*)`, expected (?P<wanted>.*)", rest, re.DOTALL)
        match = match or re.fullmatch("expected (?P<wanted>.*), found `(?P<found>.*)`", rest, re.DOTALL)
        if match is not None:
            return UsageError(f"found `{name} {match['found']}`, expected {match['wanted']}")
        return UsageError(
            f"`{name}`: {rest.removesuffix(', see --help')}", hint=None if "did you" in rest else self._help()
        )

    def _help(self) -> str:
        return f"see `{self.prog} --help`"
