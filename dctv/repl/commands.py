"""Turns a dot command, such as `.tables`, into what it shows or sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dctv.writers
from dctv.console.listing import Listing, list_tables
from dctv.console.narration import say
from dctv.console.verdict import OK
from dctv.contracts.shelf import scan
from dctv.contracts.writer import Writer
from dctv.errors import UsageError, nearest
from dctv.record import record
from dctv.repl.conversation import Conversation
from dctv.types.values import dialect_type


@record
class DotCommand:
    """One command of the prompt."""

    name: str
    argument: str
    """How its argument is called in the help; empty if it takes none, in brackets if it may be left out."""
    about: str
    run: Callable[[Conversation, str], int]
    """Do it with the text after the name and return an exit code."""


def is_command(text: str) -> bool:
    """Whether a line is a dot command, or a word that other prompts take for one."""
    return text.lstrip().startswith(".") or _word(text) in WORDS


def _word(text: str) -> str:
    return text.strip().rstrip(";").rstrip().lower()


def run_command(talk: Conversation, line: str) -> None:
    """Run the dot command of a line."""
    said = WORDS.get(_word(line), line)
    name, _, argument = said.strip().rstrip(";").removeprefix(".").partition(" ")
    name, argument = ALIASES.get(name, name), argument.strip()

    def action() -> int:
        command = COMMANDS.get(name)
        if command is None:
            close = nearest(name, list(COMMANDS))
            raise UsageError(f"unknown command `.{name}`", hint=f"did you mean `.{close}`?" if close else "see `.help`")
        if bool(argument) != bool(command.argument) and not command.argument.startswith("["):
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


def _tables(talk: Conversation, argument: str) -> int:
    words = argument.split()
    patterns = [word for word in words if word != _ALL]
    if len(patterns) > 1:
        raise UsageError(f"found `{argument}`, expected one pattern")
    listed = list_tables(talk.session, "".join(patterns), everything=_ALL in words)
    talk.show(listed.listing, talk.writer)
    if listed.hidden:
        say(listed.remark(f".tables {_ALL}"))
    if not talk.session.mounts():
        say("nothing is mounted: .mount NAME=PATH mounts a trace")
    return OK


def _schema(talk: Conversation, name: str) -> int:
    schema = talk.session.columns(name)
    if schema is None:
        close = nearest(name, [info.name for info in talk.session.tables()])
        raise UsageError(f"unknown table `{name}`", hint=f"did you mean `{close}`?" if close else None)
    say(schema.describe())
    talk.show(
        Listing(("column", "type", "unit"), [(c.name, dialect_type(c.type), str(c.unit)) for c in schema.columns]),
        talk.writer,
    )
    return OK


def _mount(talk: Conversation, argument: str) -> int:
    name, equals, path = argument.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise UsageError(f"found `{argument}`, expected NAME=PATH")
    talk.mount(path.strip(), name.strip())
    return OK


def _timing(talk: Conversation, argument: str) -> int:
    if argument not in {"", "on", "off"}:
        raise UsageError(f"found `{argument}`, expected on or off")
    talk.timing = argument == "on" if argument else not talk.timing
    say(f"timing is {'on' if talk.timing else 'off'}")
    return OK


def modes() -> dict[str, Writer]:
    """Return the formats that results can be shown in, by name."""
    return {name: writer for name, writer in scan(dctv.writers, Writer).items() if writer.many}


def _mode(talk: Conversation, argument: str) -> int:
    known = modes()
    if argument and argument not in known:
        raise UsageError(f"unknown mode `{argument}`, expected one of {', '.join(known)}")
    if argument:
        talk.writer = known[argument]
    else:
        say(f"mode is {talk.writer.name}")
    return OK


def _read(talk: Conversation, argument: str) -> int:
    path = Path(argument).expanduser()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read `{argument}`: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{argument}` is not UTF-8 text (byte {error.start})") from error
    talk.run_text(text, argument, path.parent)
    return OK


def _ui(talk: Conversation, _argument: str) -> int:
    from dctv.web.browser import open_browser  # an extra; only wanted for the page

    if talk.serving is None:
        talk.serving = talk.session.serve()
    say(talk.serving.address)
    open_browser(talk.serving.address)
    return OK


def _quit(talk: Conversation, _argument: str) -> int:
    talk.ended = True
    return OK


_ALL = "--all"
COMMANDS = {
    command.name: command
    for command in (
        DotCommand("help", "", "show this list", _help),
        DotCommand(
            "tables", "[PATTERN] [--all]", "list tables: sched, t.sched or '*wake*'; all: empty ones too", _tables
        ),
        DotCommand("schema", "TABLE", "show the kind and the columns of a table", _schema),
        DotCommand("mount", "NAME=PATH", "mount a trace", _mount),
        DotCommand("timing", "[on|off]", "show how long each statement takes", _timing),
        DotCommand("mode", "[FORMAT]", "choose how results are shown: table, csv, json, jsonl, markdown", _mode),
        DotCommand("read", "FILE", "run the statements of a file", _read),
        DotCommand("ui", "", "show the traces and views of this session on a page in the browser", _ui),
        DotCommand("quit", "", "leave, as Ctrl-D does", _quit),
    )
}
ALIASES = {"exit": "quit", "q": "quit", "h": "help", "?": "help", "columns": "schema", "open": "mount"}
"""Other names of commands, as other prompts call them."""
WORDS = {
    "exit": ".quit",
    "quit": ".quit",
    "\\q": ".quit",
    "help": ".help",
    "?": ".help",
    "\\?": ".help",
    "\\d": ".tables",
}
"""Lines without a dot that no statement looks like, and the commands that they mean."""
