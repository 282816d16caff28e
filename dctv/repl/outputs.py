"""Dot commands for the destination of results and for earlier statements: `.output`, `.once`, `.last`, `.edit`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from dctv.console.narration import print_stderr
from dctv.console.verdict import OK
from dctv.errors import UsageError, reason_of
from dctv.home import expanded
from dctv.repl.conversation import Conversation
from dctv.repl.dot_command import DotCommand
from dctv.whole_file import cannot_write


def _output(talk: Conversation, argument: str) -> int:
    if argument:
        talk.destination.open(expanded(argument))
        print_stderr(f"results go to `{argument}`, until `.output`")
    else:
        talk.destination.close()
    return OK


def _once(talk: Conversation, argument: str) -> int:
    talk.destination.once = expanded(argument)
    return OK


def _last_output(talk: Conversation, _argument: str) -> int:
    if talk.last is None:
        raise UsageError("no statement had a result yet")
    talk.run_statement(talk.last, whole=True)
    return OK


def _edit(talk: Conversation, _argument: str) -> int:
    text = _edited(talk.written)
    if text.strip() and text != talk.written:
        print_stderr(text.rstrip("\n"))
        talk.written = text
        talk.run_text(text, "<edited>")
    return OK


def _edited(text: str) -> str:
    """Return a text after the user has edited it in an editor."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="dctv-") as folder:
        path = Path(folder) / "query.sql"
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise cannot_write(f"`{path}`", error) from error
        try:
            done = subprocess.run([*command, path], check=False)
        except OSError as error:
            reason = reason_of(error)
            raise UsageError(f"cannot run `{command[0]}`: {reason}", hint="EDITOR names your editor") from error
        if done.returncode:
            raise UsageError(f"`{command[0]}` failed with exit code {done.returncode}, nothing was run")
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read what was edited: {error}") from error


OUTPUTS = (
    DotCommand("output", "[FILE]", "write results to a file from now on, or to the terminal again", _output),
    DotCommand("once", "FILE", "write the next result to a file: .csv, .parquet, .json ...", _once),
    DotCommand("last", "", "run the last query again and show all its rows", _last_output),
    DotCommand("edit", "", "edit the last statement in $EDITOR, then run it", _edit),
)
