"""What a dot command of the prompt, such as `.tables`, must bring."""

from __future__ import annotations

from collections.abc import Callable

from dctv.record import record
from dctv.repl.conversation import Conversation


@record
class DotCommand:
    """One command of the prompt."""

    name: str
    argument: str
    """How its argument is called in the help; empty if it takes none, in brackets if it may be left out."""
    about: str
    run: Callable[[Conversation, str], int]
    """Do it with the text after the name and return an exit code."""

    @property
    def may_be_alone(self) -> bool:
        """Whether all of its argument may be left out."""
        return self.argument.startswith("[") and self.argument.endswith("]")
