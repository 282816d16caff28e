"""Run COPY: write the rows of a table or select to a file, by the writers of results, where texts may name files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.contracts.writer import Writer
from dctv.errors import BindError, UsageError, nearest
from dctv.home import expanded
from dctv.run.context import ExecutionContext
from dctv.run.plans import result_of
from dctv.run.result import Done
from dctv.syntax import ast, commands
from dctv.whole_file import file_sink

_FORMAT = "format"


def copy(statement: commands.Copy, context: ExecutionContext, env: Environment) -> Done:
    """Write rows to a file, which appears, or replaces an older one, when all of them are written.

    Raises:
        BindError: the text may not name the file, its format is not known, or the rows cannot be bound.
        UsageError: it cannot be written.
    """
    file, source = statement.file, statement.source
    path = (env.base or Path()) / expanded(file.text)
    if not context.engine.may_name(path):
        refused = context.engine.refused_target(file.text)
        raise BindError(refused.message, file.place, hint=refused.hint)
    writer = _writer(statement, context.registries.writers)
    binder = Binder(env)
    if isinstance(source, ast.Select):
        plan = binder.plan(source)
    else:
        plan = binder.table(ast.TableName(source, place=source.place))
    try:
        with file_sink(path) as sink:
            count = writer.write(result_of(plan, context), sink.stream)
    except UsageError as error:
        raise BindError(error.message, file.place, hint=error.hint) from None
    return Done(f"copied {count:,} row{'' if count == 1 else 's'} to {file.text}")


def _writer(statement: commands.Copy, writers: Mapping[str, Writer]) -> Writer:
    """Return the writer that FORMAT names, or else the ending of the file."""
    named: ast.String | None = None
    for name, value in statement.options:
        if name.text.lower() != _FORMAT:
            raise BindError(f"COPY has no option `{name.text}`", name.place, hint="its option is FORMAT")
        if value is None:
            raise BindError("FORMAT needs a name", name.place, hint=_known(writers))
        if named is not None:
            raise BindError("FORMAT is given twice", name.place)
        named = value
    if named is not None:
        return _named(named, writers)
    suffix = Path(statement.file.text).suffix.lower()
    found = next((one for one in writers.values() if suffix in one.suffixes), None)
    if found is None:
        hint = f"write (FORMAT csv); {_known(writers)}"
        raise BindError(
            f"the name `{statement.file.text}` does not determine a format", statement.file.place, hint=hint
        )
    return found


def _named(name: ast.String, writers: Mapping[str, Writer]) -> Writer:
    found = writers.get(name.text.lower())
    if found is None:
        near = nearest(name.text, list(writers))
        hint = f"did you mean `{near}`?" if near else _known(writers)
        raise BindError(f"unknown format `{name.text}`", name.place, hint=hint)
    return found


def _known(writers: Mapping[str, Writer]) -> str:
    return f"formats: {', '.join(sorted(writers))}"
