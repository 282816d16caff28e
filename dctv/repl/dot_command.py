"""The interface of a dot command, such as `.tables`."""

from __future__ import annotations

from collections.abc import Callable

from dctv.record import record
from dctv.repl.conversation import Conversation


@record
class DotCommand:
    """One command of the prompt."""

    name: str
    argument: str
    """The name of its argument in the help; empty if it takes none, in brackets if it is optional."""
    about: str
    run: Callable[[Conversation, str], int]
    """Runs it with the text after the name and returns an exit code."""

    @property
    def may_be_alone(self) -> bool:
        """Whether its whole argument is optional."""
        return self.argument.startswith("[") and self.argument.endswith("]")
