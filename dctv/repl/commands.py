"""Run dot commands, such as `.tables`."""

from __future__ import annotations

from pathlib import Path

from dctv.catalog.mount_names import name_of_mount
from dctv.console.files import exists
from dctv.console.narration import print_stderr
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest, reason_of
from dctv.home import expanded
from dctv.repl.conversation import Conversation
from dctv.repl.dot_command import DotCommand
from dctv.repl.listings import LISTINGS
from dctv.repl.outputs import OUTPUTS
from dctv.repl.plotting import PLOT
from dctv.repl.setting_commands import SETTING_COMMANDS


def is_command(text: str) -> bool:
    """Whether a line is a dot command, or a common command of other prompts."""
    return text.lstrip().startswith(".") or _word(text) in WORDS


def _word(text: str) -> str:
    return text.strip().rstrip(";").rstrip().lower()


def run_command(talk: Conversation, line: str) -> None:
    """Run the dot command of a line."""
    command = WORDS.get(_word(line), line)
    name, _, argument = command.strip().rstrip(";").removeprefix(".").partition(" ")
    name, argument = ALIASES.get(name, name), argument.strip()

    def action() -> int:
        command = COMMANDS.get(name)
        if command is None:
            close = nearest(name, list(COMMANDS))
            raise UsageError(f"unknown command `.{name}`", hint=f"did you mean `.{close}`?" if close else "see `.help`")
        if bool(argument) != bool(command.argument) and not command.may_be_alone:
            expected = f"`.{name} {command.argument}`" if command.argument else f"`.{name}` alone"
            raise UsageError(f"found `{line.strip()}`, expected {expected}")
        return command.run(talk, argument)

    talk.guarded(action)


def _help(talk: Conversation, _argument: str) -> int:
    usages = [f".{c.name} {c.argument}".rstrip() for c in COMMANDS.values()]
    wide = max(len(usage) for usage in usages)
    lines = [f"{usage.ljust(wide)}  {c.about}" for usage, c in zip(usages, COMMANDS.values(), strict=True)]
    lines.append("Anything else is SQL; a statement ends with a semicolon.")
    talk.print_text("\n".join(lines))
    return OK


def _mount(talk: Conversation, argument: str) -> int:
    name, equals, path = (part.strip() for part in argument.partition("="))
    if equals and (not name or not path):
        raise UsageError(f"found `{argument}`, expected NAME=PATH")
    named = ""
    if not equals or exists(argument):
        path, name = argument, name_of_mount(Path(argument), [one.name for one in talk.session.mounts()])
        named = f"`{path}` is mounted as `{name}`"
    talk.mount(str(expanded(path)), name)
    if named:
        print_stderr(named)
    return OK


def _read(talk: Conversation, argument: str) -> int:
    path = expanded(argument)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read `{argument}`: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{argument}` is not UTF-8 text (byte {error.start})") from error
    talk.run_text(text, argument, path.parent)
    return OK


def _ui(talk: Conversation, _argument: str) -> int:
    from dctv.web.browser import open_browser  # an extra; only needed for the page

    if talk.serving is None:
        talk.serving = talk.session.serve()
    print_stderr(talk.serving.address)
    open_browser(talk.serving.address)
    return OK


def _quit(talk: Conversation, _argument: str) -> int:
    talk.ended = True
    return OK


COMMANDS = {
    command.name: command
    for command in (
        DotCommand("help", "", "show this list", _help),
        *LISTINGS,
        DotCommand("mount", "[NAME=]PATH", "mount a trace", _mount),
        *SETTING_COMMANDS,
        DotCommand("read", "FILE", "run the statements of a file", _read),
        *OUTPUTS,
        PLOT,
        DotCommand("ui", "", "show the traces and views of this session on a page in the browser", _ui),
        DotCommand("quit", "", "leave, as Ctrl-D does", _quit),
    )
}
ALIASES = {"exit": "quit", "q": "quit", "h": "help", "?": "help", "columns": "schema", "open": "mount"}
"""Aliases of commands, as in other prompts."""
WORDS = {
    "exit": ".quit",
    "quit": ".quit",
    "\\q": ".quit",
    "help": ".help",
    "?": ".help",
    "\\?": ".help",
    "\\d": ".tables",
}
"""Lines without a dot that cannot be statements, and the commands that they mean."""
