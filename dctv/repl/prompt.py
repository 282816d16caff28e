"""Read one complete input from the keyboard: multi-line editing, history, highlighting, completion."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.filters import is_searching
from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.output.defaults import create_output

from dctv.repl.commands import is_command
from dctv.repl.completion import SqlCompleter
from dctv.repl.highlight import STYLE, SqlLexer
from dctv.repl.usage_line import show_usages
from dctv.session import Session
from dctv.syntax.statements import is_complete

PROMPT = "DCTV> "
CONTINUATION = "   -> "


def make_prompt(
    session: Session, terminal: tuple[Input, Output] | None = None, history: History | None = None
) -> PromptSession[str]:
    """Return the prompt; Enter runs the input once it ends with a semicolon or is a dot command."""
    given_input, output = terminal if terminal is not None else (None, create_output(always_prefer_tty=True))
    prompt: PromptSession[str] = PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=_continuation,
        key_bindings=_bindings(),
        history=history if history is not None else _history(),
        auto_suggest=AutoSuggestFromHistory(),
        lexer=SqlLexer(),
        style=STYLE,
        completer=SqlCompleter(session),
        complete_while_typing=False,
        enable_history_search=False,
        input=given_input,
        output=output,
    )
    show_usages(prompt, session)
    return prompt


def _continuation(_width: int, _line: int, _wraps: int) -> AnyFormattedText:
    return CONTINUATION


def _bindings() -> KeyBindings:
    bindings = KeyBindings()

    # During a search with Ctrl-R, Enter accepts the match.
    @bindings.add("enter", filter=~is_searching)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif is_command(buffer.text) or is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline(copy_margin=False)

    return bindings


class _ForgivingHistory(FileHistory):
    """History that stays in memory if its file cannot be written."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)


def _history() -> History:
    state = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    path = Path(state) / "dctv" / "history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return _ForgivingHistory(str(path))
