"""Dot commands that list tables, columns, functions, units and mounts."""

from __future__ import annotations

from dctv.console.listing import Listing, list_functions, list_mounts, list_tables, list_units
from dctv.console.narration import print_stderr
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest
from dctv.repl.conversation import Conversation
from dctv.repl.dot_command import DotCommand
from dctv.types.values import dialect_type

_ALL = "--all"


def _tables(talk: Conversation, argument: str) -> int:
    words = argument.split()
    patterns = [word for word in words if word != _ALL]
    if len(patterns) > 1:
        raise UsageError(f"found `{argument}`, expected one pattern")
    listed = list_tables(talk.session, "".join(patterns), everything=_ALL in words)
    talk.show(listed.listing)
    if listed.hidden:
        print_stderr(listed.remark(f".tables {_ALL}"))
    if not talk.session.mounts():
        print_stderr("nothing is mounted: .mount NAME=PATH mounts a trace")
    return OK


def _schema(talk: Conversation, name: str) -> int:
    schema = talk.session.columns(name)
    if schema is None:
        close = nearest(name, [info.written for info in talk.session.tables()])
        raise UsageError(
            f"unknown table `{name}`", hint=f"did you mean `{close}`?" if close else "`.tables` lists them"
        )
    print_stderr(schema.describe())
    rows = [(c.name, dialect_type(c.type), str(c.unit)) for c in schema.columns]
    talk.show(Listing(("column", "type", "unit"), rows))
    return OK


def _functions(talk: Conversation, pattern: str) -> int:
    talk.show(list_functions(talk.session, pattern))
    return OK


def _units(talk: Conversation, pattern: str) -> int:
    talk.show(list_units(talk.session, pattern))
    return OK


def _mounts(talk: Conversation, _argument: str) -> int:
    found = list_mounts(talk.session)
    if not found.rows:
        print_stderr("nothing is mounted: .mount NAME=PATH mounts a trace")
        return OK
    talk.show(found)
    return OK


LISTINGS = (
    DotCommand("tables", "[PATTERN] [--all]", "list tables: sched, t.sched, *wake*; --all: empty ones too", _tables),
    DotCommand("schema", "TABLE", "show the kind and the columns of a table", _schema),
    DotCommand("functions", "[PATTERN]", "list functions for expressions", _functions),
    DotCommand("units", "[PATTERN]", "list units", _units),
    DotCommand("mounts", "", "list mounted traces", _mounts),
)
