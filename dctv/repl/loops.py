"""Read statements and dot commands from stdin or the prompt, and run them."""

from __future__ import annotations

import sys

from dctv.console.narration import print_stderr
from dctv.console.verdict import OK
from dctv.errors import UsageError
from dctv.repl.commands import is_command, run_command
from dctv.repl.conversation import Conversation
from dctv.syntax.statements import cut, in_place, is_empty


def converse(talk: Conversation, mounts: list[tuple[str, str]], *, configured: bool) -> int:
    """Mount, then run the prompt until the end; return the exit code, which is 0 after an interactive session."""
    for name, path in mounts:
        talk.mount(path, name)
    if talk.interactive:
        return _prompt_loop(talk, mounts, configured=configured)
    _pipe_loop(talk)
    return talk.code


def _pipe_loop(talk: Conversation) -> None:
    """Run each statement once its last line has been read; continue after errors."""
    pending, line_number = "", 0
    first_line = 0
    while not talk.ended and (raw := sys.stdin.buffer.readline()):
        line = _decoded(raw, line_number + 1)
        line_number += 1
        if is_empty(pending):
            if is_command(line):
                run_command(talk, line)
                continue
            pending, first_line = "", line_number - 1
        pending += line
        if ";" in line:
            pending, first_line = _run_complete(talk, pending, first_line)
    talk.run_text("\n" * first_line + pending, "<stdin>")


def _run_complete(talk: Conversation, pending: str, first_line: int) -> tuple[str, int]:
    """Run the complete statements; return the rest and the number of lines before it."""
    where = cut(pending)
    talk.written = pending[: where.rest]
    talk.run_text("\n" * first_line + pending[: where.rest], "<stdin>")
    rest = in_place(pending, where.rest, len(pending)).lstrip("\n")
    return rest, first_line + pending.count("\n", 0, where.rest)


def _decoded(raw: bytes, line_number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if line_number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"line {line_number} of stdin is not UTF-8 text (byte {error.start})") from error


def _prompt_loop(talk: Conversation, mounts: list[tuple[str, str]], *, configured: bool) -> int:
    from dctv.repl.config import configure
    from dctv.repl.prompt import make_prompt

    if configured:
        configure(talk.settings)
    prompt = make_prompt(talk.session)
    _greet([name for name, _ in mounts])
    while not talk.ended:
        try:
            _take(talk, prompt.prompt())
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
    return OK


def _greet(mounted: list[str]) -> None:
    """Print how to start."""
    from dctv import __version__

    print_stderr(f"dctv {__version__}. Type .help for help. SQL ends with a semicolon, Tab completes it.")
    if mounted:
        print_stderr(f"Mounted: {', '.join(mounted)}. `.tables` lists the tables.")
    else:
        print_stderr("Nothing is mounted: `.mount t=trace.json` mounts a trace as t.")


def _take(talk: Conversation, text: str) -> None:
    if is_command(text):
        run_command(talk, text)
    else:
        talk.written = text
        talk.run_text(text, "<query>")
