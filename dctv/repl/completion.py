"""Complete input at the prompt: SQL, names of dot commands, files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from dctv.completion import Candidates, candidates, matching
from dctv.patterns import pattern
from dctv.repl.commands import COMMANDS
from dctv.repl.settings import SETTINGS, modes
from dctv.session import Session

_IN_PATH = pattern(
    r"(?:\b(?:MOUNT\s+TRACES?|ATTACH)\s+'|^\s*\.(?:read|output|once)\s+|^\s*\.mount\s+(?:\w+=)?)([^'\n]*)$",
    re.IGNORECASE,
)
_COMMAND = pattern(r"\s*\.(\w*)(\s+)?(\S*)$")


class SqlCompleter(Completer):
    """A completer at the cursor by the grammar and the names of the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield completions at the cursor, columns first."""
        text = document.text_before_cursor
        in_path = _IN_PATH.search(text)
        if in_path is not None:
            yield from self._paths.get_completions(Document(in_path[1]), complete_event)
            return
        command = _COMMAND.match(text)
        if command is not None:
            given = self._of_command(command)
        else:
            given = candidates(self._session, text, document.text_after_cursor)
        for one in given.found:
            yield Completion(one.text, -given.typed, display_meta=one.about)

    def _of_command(self, command: re.Match[str]) -> Candidates:
        name, blanks, argument = command.groups()
        words: list[tuple[str, str]] = []
        if not blanks:
            words = [(known, "") for known in COMMANDS]
        elif name == "mode":
            words = [(mode, "") for mode in modes()]
        elif name == "set":
            words = [(setting, one.values) for setting, one in SETTINGS.items()]
        elif name == "functions":
            words = [(function, "") for function in self._session.functions()]
        elif name in {"schema", "tables"}:
            words = [(info.written, info.kind) for info in self._session.tables()]
        word = argument if blanks else name
        return Candidates(len(word), matching(word, words))
