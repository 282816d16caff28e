"""Dispatch the command line to a subcommand."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import dctv.cli.commands
from dctv.cli.command import Command
from dctv.cli.parser import RaisingParser
from dctv.console.verdict import OK, WRONG
from dctv.contracts.registry import modules, scan

if TYPE_CHECKING:
    from dctv.cli.task import SharedSession

EXIT_CODES = """exit codes:
  0    success
  1    an ASSERT or EXPECT, --fail-on-rows, --fail-if-empty, --fail-above or a
       test failed
  2    the SQL, the arguments or the output is wrong
  3    a trace could not be read completely (unless --allow-partial)
  4    a bug in dctv
  124  --timeout expired
  130  interrupted
  143  terminated
"""


_FIRST = """Query trace files with SQL.

  dctv tables t=trace.json                          list the tables
  dctv query t=trace.json "SELECT * FROM t.slices"  run one query
  dctv repl t=trace.json                            run queries at a prompt
  dctv ui trace.json                                show the trace in the browser"""


def dispatch(words: list[str], warm: SharedSession | None = None) -> int:
    """Run the subcommand of the first word, here or in the session that the words name; return its exit code."""
    named = _named(words)
    if named is not None:
        return _run(named, words, warm)
    commands = scan(dctv.cli.commands, Command)
    top = _top(commands)
    if not words:
        top.print_help()
        return WRONG
    chosen = top.parse_args(words[:1])
    if chosen.version:
        sys.stdout.write(f"dctv {version()}\n")
        return OK
    return _run(commands[chosen.command], words, warm)


def _named(words: list[str]) -> Command | None:
    """Return the command of the first word, if its module has the same name, without importing the others."""
    if not words or words[0] not in modules(dctv.cli.commands):
        return None
    module = import_module(f"{dctv.cli.commands.__name__}.{words[0]}")
    return next((c for c in vars(module).values() if isinstance(c, Command) and c.name == words[0]), None)


def _run(command: Command, words: list[str], warm: SharedSession | None) -> int:
    parser = RaisingParser(
        prog=f"dctv {command.name}",
        description=command.title,
        allow_abbrev=False,
        epilog=_examples(command) + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.configure(parser)
    args = parser.parse_intermixed_args(words[1:])
    args.line, args.warm = words, warm
    if warm is None and getattr(args, "session", None) is not None:
        from dctv.cli.warm.client import run_in_session  # only needed for sessions

        return run_in_session(args)
    return command.run(args)


def _examples(command: Command) -> str:
    lines = "".join(f"  dctv {command.name} {words}\n" for words in command.examples)
    return f"examples:\n{lines}\n" if lines else ""


def version() -> str:
    """Return the version of the installed package, or of the checkout."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("dctv")
    except PackageNotFoundError:
        import tomllib

        text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])


def _top(commands: dict[str, Command]) -> argparse.ArgumentParser:
    wide = max(len(name) for name in commands)
    listing = "\n".join(f"  {name.ljust(wide)}  {c.title}" for name, c in commands.items())
    parser = RaisingParser(
        prog="dctv",
        usage="dctv COMMAND ...\n       dctv COMMAND --help",
        description=_FIRST,
        epilog=f"commands:\n{listing}\n\n{EXIT_CODES}",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", choices=list(commands), metavar="COMMAND", help=argparse.SUPPRESS)
    return parser
