"""Turn the registries into pages of docs/reference; with --check, say which pages are out of date."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import dctv
import dctv.cli.commands
import dctv.readers
import dctv.writers
from dctv.bind.library import library_function
from dctv.catalog.mount import HIDDEN, Mount, attach
from dctv.catalog.stdlib import EVERY, LibraryModule, library, modules
from dctv.cli.command import Command
from dctv.cli.dispatch import EXIT_CODES
from dctv.comparison.bundled import EVERY as EVERY_FORMAT
from dctv.comparison.bundled import metrics as bundled
from dctv.contracts.function_rule import FunctionRule
from dctv.contracts.reader import LoadedTrace, Reader
from dctv.contracts.registry import scan
from dctv.contracts.span_operator import SpanOperator
from dctv.contracts.table_function import TableFunction
from dctv.contracts.usage import usage
from dctv.contracts.writer import Writer
from dctv.engines.allowed import KINDS, OF_FILES, TABLES
from dctv.functions import aggregate, scalar, span, table
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.session import Session
from dctv.types.schema import Schema
from dctv.types.values import dialect_type

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
MADE = "<!-- Made by docs/generate.py from the registries: change those, then `make accept`. -->\n"
SAMPLE = "tests/data/ftrace/live_marks_tgid.trace.txt"
"""A small trace, to tell what every one has."""
TREE = re.compile(r"(?<=<!-- tree -->\n).*?(?=<!-- end of tree -->)", re.DOTALL)


def main(words: list[str]) -> int:
    """Write the pages, or check them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a page would change")
    check = parser.parse_args(words).check
    wrong = [path for path, text in pages() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in pages() if wrong and not check else ():
        path.write_text(text, encoding="utf-8")
    for path in wrong if check else ():
        print(f"{path.relative_to(ROOT)} is out of date: run `make accept`", file=sys.stderr)
    return 1 if wrong and check else 0


def pages() -> Iterator[tuple[Path, str]]:
    """Yield every page that is made, or partly made, with the text it should have."""
    for name, page in PAGES.items():
        yield REFERENCE / f"{name}.md", page()
    text = ARCHITECTURE.read_text(encoding="utf-8")
    yield ARCHITECTURE, TREE.sub(lambda _: f"```text\n{tree()}```\n", text)


def functions() -> str:
    """Make the page of functions with unit rules."""
    lines = [
        "# Functions\n",
        "A query may call these functions of the engine (DuckDB): those whose result follows from their arguments, a",
        "clock or a random number. No other can be reached ([what a query can do](../explanation/security.md)). A",
        "function in a table says what becomes of units; every other one takes bare numbers only, so drop a unit with",
        "`unitless(x)` first.\n",
    ]
    rules = {**scan(scalar, FunctionRule), **scan(aggregate, FunctionRule)}
    for kind in ("scalar", "aggregate", "window"):
        rows = [(f"`{r.name}`", r.doc, r.rule.value) for r in sorted(rules.values(), key=_name) if r.kind == kind]
        lines += [f"## {kind.capitalize()} functions\n", *_table(("function", "what it returns", "units"), rows), ""]
        others = ", ".join(f"`{name}`" for name, of in KINDS.items() if of == kind and name not in rules)
        lines += [f"Others of the engine: {others}.\n"]
    lines += [
        "## In FROM\n",
        f"Of the engine's table functions: {', '.join(f'`{name}`' for name in sorted(TABLES))}; where",
        f"[files are allowed](../explanation/security.md), {', '.join(f'`{name}`' for name in sorted(OF_FILES))} too.",
        "dctv's own are [table-valued functions](table-functions.md).\n",
    ]
    return _page(lines)


def units() -> str:
    """Make the page of units."""
    prefixes: list[tuple[str, str, str]] = []
    groups: dict[str, list[tuple[str, str, str, str]]] = {}
    group = ""
    for raw in (ROOT / "units.txt").read_text(encoding="utf-8").splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("@group"):
            group = line.removeprefix("@group").strip()
        if line.startswith("@") or not line:
            continue
        name, definition, *more = (part.strip() for part in line.split("="))
        symbols = [m for m in dict.fromkeys(more) if m != "_"]
        if name.endswith("-"):
            prefixes.append((f"`{name}`", _codes(symbols), definition))
            continue
        symbol = symbols[0] if more and more[0] != "_" else ""
        others = [s for s in symbols if s != symbol]
        groups.setdefault(group, []).append((f"`{name}`", f"`{symbol}`" if symbol else "", _codes(others), definition))
    lines = [
        "# Units\n",
        "A unit follows its number without a space: `17ms`, `1.5GiB`, `` 4`miles/hour` ``. `x IN ms` converts.",
        "Conversions are exact. Results print the symbol, or the name where there is none.\n",
    ]
    for name, about in UNIT_GROUPS.items():
        head = ("unit", "symbol", "other names", "definition")
        lines += [f"## {name.capitalize()}\n", f"{about}\n", *_table(head, groups.pop(name)), ""]
    assert not groups, f"units.txt has groups that this page does not explain: {', '.join(groups)}"
    return _page([*lines, "## Prefixes\n", *_table(("prefix", "other forms", "factor"), prefixes)])


UNIT_GROUPS = {
    "decimal": "Take every SI prefix: `ms`, `km`, `uV`.",
    "large": "Things counted; take SI prefixes from kilo up: `Mcycles`. Each is a dimension of its own.",
    "digital": "Take SI prefixes from kilo up and the binary ones: `MB`, `MiB`.",
    "plain": "Take no prefix.",
    "shorthand": "Take no prefix; dctv reads and prints the definition in their place.",
}


def table_functions() -> str:
    """Make the page of table-valued functions."""
    lines = [
        "# Table-valued functions\n",
        "They stand in `FROM`. Arguments after `*` are given by name (`partition=>'cpu'`). An argument may be",
        "a literal, a list `[...]`, a dict `{key=>value}`, the name of a table, a call or a select in",
        "parentheses.\n",
        "Given a table of traces that are [mounted as one](../howto/ask-a-thousand-traces.md), a function runs in each",
        "of them by itself, and its result has the column `_trace`.\n",
    ]
    for function in scan(table, TableFunction).values():
        lines += _function(f"dctv.{function.name}", function)
    of_traces = "Traces that are mounted as one have it, too: `runs.quantize(10ms)` has the spans of each of them.\n"
    return _page([*lines, "## Of every trace\n", *_function("TRACE.quantize", quantize(0, 0), level=3), of_traces])


def _function(name: str, function: TableFunction, level: int = 2) -> Iterator[str]:
    yield f"{'#' * level} `{name}`\n"
    yield f"    {usage(name, function.parameters)}\n"
    also = f" Also called {_codes([f'dctv.{a}' for a in function.aliases])}." if function.aliases else ""
    yield f"{_sentence(function.doc)}{also}\n"
    yield from _table(("parameter", "what it is"), [(f"`{p.name}`", p.doc) for p in function.parameters])
    yield ""


def formats() -> str:
    """Make the page of trace formats."""
    lines = [
        "# Trace formats\n",
        "A format is told by the content of a file, never by its name alone; gzip is looked into. A folder or",
        "a pattern mounts the files whose names end as the format says as one trace.\n",
    ]
    for reader in scan(dctv.readers, Reader).values():
        lines += [f"## `{reader.name}`\n", f"{_sentence(reader.title)}\n"]
        if reader.folder is not None:
            lines += ["A trace is a folder.\n"]
        if reader.suffixes:
            lines += [f"Names of members of a trace end in {_codes(reader.suffixes)}.\n"]
        page = "plain-tables" if reader.general else reader.name
        if (REFERENCE / "formats" / f"{page}.md").exists():
            lines += [f"[Tables, columns and diagnostics](formats/{page}.md).\n"]
        if reader.options:
            head = ("option of MOUNT TRACE ... WITH", "what it does")
            lines += [*_table(head, [(f"`{k}`", v) for k, v in reader.options.items()]), ""]
    lines += ["## What Perfetto reads and dctv does not yet\n", f"{_NOT_READ_ABOUT}\n"]
    return _page([*lines, *_table(("format", "what writes it"), _NOT_READ)])


_NOT_READ_ABOUT = """Perfetto's trace processor mounts these, dctv refuses them. Where a way is known, it is told."""
_NOT_READ = (
    ("Fuchsia trace format (`.fxt`)", "Fuchsia, magic-trace"),
    ("Instruments XML", "`xctrace export` on macOS"),
    ("ART method traces (`.trace`)", "Android's method tracing, Android Studio"),
    ("ART heap dumps (`.hprof`)", "`am dumpheap`, Android Studio; heap graphs within Perfetto traces are read"),
    ("bugreports (`.zip`), dumpstate", "`adb bugreport`; unpack it, and mount the traces within"),
    ("logcat as text", "`adb logcat`"),
    ("Simpleperf's protobuf", "`simpleperf report-sample --protobuf`"),
    (
        "Firefox profiles",
        "the Gecko profiler, samply, `simpleperf`; one that stands on a single line is a row of `json-lines`",
    ),
    ("pprof", "Go, gperftools, and others"),
    ("strace as text", "`strace -f -ttt`"),
    ("ninja logs (`.ninja_log`)", "ninja; ninjatracing turns them into `chrome-json`"),
    ("Primes", "Google's Primes"),
    ("hardware traces (ETM)", "`perf record -e cs_etm//`; the other records of a `perf.data` are read"),
    ("several traces in one archive (`.tar`, `.zip`)", "a zip archive of `chrome-json` is read; unpack others"),
)


def metrics() -> str:
    """Make the page of the queries that traces are compared with."""
    lines = [
        "# Metrics\n",
        "What `dctv compare` asks of traces if it is given no query of its own, and `--metric NAME` or",
        "`dctv.compare(a, b, metric=NAME)` ask for ([how to compare](../howto/compare-two-runs.md)). Without a name,",
        "those for the formats of all traces are compared, as far as they have rows. More is worse, unless it is said",
        "here. Each is a query like any other, to begin with.\n",
    ]
    for metric in bundled().values():
        lines += [f"## `{metric.name}`\n", f"{metric.doc}\n"]
        every = EVERY_FORMAT in metric.formats
        lines += ["For traces of every format.\n" if every else f"For traces of {_codes(metric.formats)}.\n"]
        for direction, what in (("higher", "More is better"), ("none", "More is neither better nor worse")):
            columns = _codes(name for name, one in metric.better.items() if one == direction)
            lines += [f"{what}: {columns}.\n"] if columns else []
        query = "\n".join(line for line in metric.sql.splitlines() if not line.startswith("--"))
        lines += ["```sql", query, "```\n"]
    return _page(lines)


def output_formats() -> str:
    """Make the page of result formats."""
    writers = scan(dctv.writers, Writer).values()
    rows = [(f"`{w.name}`", w.title, _codes(w.suffixes), "yes" if w.many else "no") for w in writers]
    head = ("--format", "what it is", "chosen by -o FILE ending in", "several results in one file")
    return _page(
        [
            "# Output formats\n",
            "Units stand in square brackets after the name in `table`, `csv` and `markdown`, in the columns'",
            "description in `json`, and in the metadata of the schema in Arrow and Parquet (field metadata, key",
            "`unit`).\n",
            *_table(head, rows),
        ]
    )


def command_line() -> str:
    """Make the page of the command line."""
    lines = [
        "# Command line\n",
        "Results go to stdout, everything else to stderr: errors, warnings, remarks, progress. A trace is a file, a",
        "folder, or a pattern in quotes such as `'traces/*.pfw.gz'`, whose files are one trace together. What `-o`",
        "names is there once it is whole, and not at all if the exit code is not 0; what `--fail-above` finds worse is",
        "there, too.\n",
    ]
    for command in scan(dctv.cli.commands, Command).values():
        parser = argparse.ArgumentParser(add_help=False)
        command.configure(parser)
        rows = [_option(action) for action in parser._actions if action.help != argparse.SUPPRESS]
        lines += [f"## `dctv {command.name}`\n", f"{_sentence(command.title)}\n"]
        lines += [*_table(("argument", "what it does"), rows), ""]
    return _page([*lines, "## Exit codes\n", "```text", EXIT_CODES.rstrip(), "```"])


def _option(action: argparse.Action) -> tuple[str, str]:
    value = str(action.metavar or (action.dest.upper() if action.nargs != 0 else ""))
    names = _codes(f"{name} {value}".rstrip() for name in action.option_strings) or f"`{value}`"
    text = (action.help or "").replace("%%", "%")
    return names, f"{text}: {_codes(map(str, action.choices))}" if action.choices else text


def stdlib() -> str:
    """Make the page of what every mounted trace offers."""
    lines = [
        "# Standard library\n",
        "Tables, views and functions below the name under which a trace is mounted. Tables of a format's own",
        "are listed by `dctv tables NAME=PATH`, columns by `DESCRIBE name`.\n",
        "## Every trace\n",
    ]
    shown = [module for module in modules() if module.parts[0] not in HIDDEN]
    own = {".".join(module.parts) for module in shown}
    with Session() as session:
        session.mount(str(ROOT / SAMPLE), "t")
        rows = [
            (f"`{name}`", t.kind, t.doc)
            for name, t in ((t.name.partition(".")[2], t) for t in session.tables("t"))
            # What only this format brings says nothing of itself.
            if not name.startswith("raw_events.") and name not in own and t.doc
        ]
        lines += [*_table(("name", "kind", "what it holds"), rows), ""]
        for module in shown:
            name = "none" if EVERY in module.formats else module.formats[0]
            if session.tables(f"_{name}") == []:
                nothing = Mount((f"_{name}",), "", name, LoadedTrace({}, [], 0))
                attach(session._context.catalog, nothing, library(), [quantize(0, 0)], library_function)
        for every, about in ((True, "Views of every trace"), (False, "Views of some formats")):
            lines += [f"## {about}\n"]
            for module in shown:
                if (EVERY in module.formats) == every:
                    name = "none" if every else module.formats[0]
                    lines += _view(module, session.columns(f"_{name}.{'.'.join(module.parts)}"))
    return _page(lines)


def _view(module: LibraryModule, schema: Schema | None) -> Iterator[str]:
    """Tell of a view, or of a function, which cannot be bound if it must be given something."""
    required = any(default is None for _, default, _ in module.parameters)
    assert schema is not None or required, f"stdlib/{'/'.join(module.parts)}.sql cannot be bound"
    yield f"### `{'.'.join(module.parts)}`\n"
    kind = "" if schema is None else f" ({schema.describe().capitalize()}.)"
    yield f"{module.doc}{kind}\n"
    if EVERY not in module.formats:
        yield f"Traces of format {_codes(module.formats)}.\n"
    if module.parameters:
        given = (
            (f"`{name}`", "" if default is None else f"`{default}`", what) for name, default, what in module.parameters
        )
        yield from _table(("parameter", "if it is not given", "what it is"), given)
        yield ""
    about = {**TIMES, **module.columns}
    if schema is None:
        yield from _table(("column", "what it holds"), [(f"`{name}`", what) for name, what in module.columns.items()])
    else:
        rows = [(f"`{c.name}`", dialect_type(c.type), str(c.unit), about.get(c.name, "")) for c in schema.columns]
        yield from _table(("column", "type", "unit", "what it holds"), rows)
    yield ""


TIMES = {"_ts": "time since the trace's first event", "_duration": "how long the span lasts"}


def span_operators() -> str:
    """Make the page of the compiled operators, as EXPLAIN names them."""
    rows = [(f"`{o.name}`", o.doc) for o in scan(span, SpanOperator).values()]
    return _page(
        [
            "# Span operators\n",
            "What `EXPLAIN` shows outside of engine regions: compiled sweeps over streams sorted by time. How to",
            "write them is told in [the dialect](dialect.md).\n",
            *_table(("operator", "what it does"), rows),
        ]
    )


_CLASSES = ("Session", "Result", "TraceReader", "Comparison")
_GIVEN = ("Result", "Comparison")
"""Classes of which programs get objects, and make none."""
_FUNCTIONS = ("compare",)
_PYTHON_ABOUT = """\
`import dctv` loads nothing else until it is used. [How to use it](../howto/use-from-python.md) has examples.

`str` of an error is what the terminal shows: its place in the text, a caret, what was found and expected, a hint. Its
`message` and `hint` are there alone, too, and `place` tells where it is. In a notebook it takes one screen.
"""
_RAISES = re.compile(r"\nRaises:\n(?P<lines>(?:    .+\n?)+)")


def python() -> str:
    """Make the page of what `import dctv` offers: classes with their methods, then errors and warnings."""
    lines = ["# Python\n", _PYTHON_ABOUT, *(line for name in _CLASSES for line in _class(getattr(dctv, name)))]
    for name in _FUNCTIONS:
        found = getattr(dctv, name)
        lines += [f"## `{name}`\n", *_call(f"dctv.{name}", inspect.signature(found)), _documentation(found)]
    rows = []
    for name in sorted(set(dctv.__all__) - {*_CLASSES, *_FUNCTIONS, "__version__"}):
        found = getattr(dctv, name)
        doc = (inspect.getdoc(found) or "").partition("\n\n")[0].replace("\n", " ")
        rows.append((f"`{name}`", doc, f"`{found.__base__.__name__}`"))
    return _page([*lines, "## Errors and warnings\n", *_table(("class", "what happened", "a kind of"), rows)])


def _class(found: type) -> Iterator[str]:
    yield f"## `{found.__name__}`\n"
    if found.__name__ not in _GIVEN:
        yield from _call(f"dctv.{found.__name__}", inspect.signature(found))
    yield _documentation(found)
    for name, member in vars(found).items():
        if name == "__arrow_c_stream__" or not name.startswith("_"):
            yield from _member(found, name, member)


def _member(found: type, name: str, member: object) -> Iterator[str]:
    if isinstance(member, property) and member.fget is not None:
        yield f"### `{found.__name__}.{name}`\n"
        yield f"    {name}: {inspect.signature(member.fget).return_annotation}\n"
        yield _documentation(member)
    elif callable(member):
        yield f"### `{found.__name__}.{name}`\n"
        yield from _call(name, inspect.signature(member))
        yield _documentation(member)


def _call(name: str, signature: inspect.Signature) -> Iterator[str]:
    """Yield a signature, in a line of its own or with one for each parameter."""
    given = [_parameter(one) for one in signature.parameters.values() if one.name != "self"]
    kinds = [one.kind for one in signature.parameters.values() if one.name != "self"]
    positional, keyword = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.KEYWORD_ONLY
    if keyword in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        given.insert(kinds.index(keyword), "*")
    if positional in kinds:
        given.insert(len(kinds) - kinds[::-1].index(positional), "/")
    result = signature.return_annotation
    end = "" if result in (inspect.Signature.empty, "None") else f" -> {result}"
    line = f"{name}({', '.join(given)}){end}"
    if len(line) <= 110:
        yield f"    {line}\n"
    else:
        yield "\n".join([f"    {name}(", *(f"        {one}," for one in given), f"    ){end}\n"])


def _parameter(one: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(one.kind.name, "")
    default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
    return f"{stars}{one.name}: {one.annotation}{default}"


def _documentation(found: type | property | Callable[..., object]) -> str:
    """Return a docstring, with what is raised as a list."""
    return _RAISES.sub(_raised, f"{inspect.getdoc(found) or ''}\n")


def _raised(found: re.Match[str]) -> str:
    pairs = (line.strip().partition(": ") for line in found["lines"].rstrip("\n").split("\n"))
    return "\nRaises\n\n" + "".join(f"- `{name}`: {what}\n" for name, _, what in pairs)


def tree() -> str:
    """Make the tree of the packages from their docstrings, first sentence each."""
    lines = []
    for path in sorted((ROOT / "dctv").rglob("*.py")):
        parts = path.relative_to(ROOT / "dctv").parts
        package = path.name == "__init__.py"
        if (len(parts) == 1) == package or (len(parts) > 1 and not package):
            continue
        name = f"{'/'.join(parts[:-1])}/" if package else parts[0]
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        lines.append(f"{'dctv/' + name:<28}{doc.splitlines()[0]}\n")
    return "".join(lines)


PAGES: dict[str, Callable[[], str]] = {
    "command-line": command_line,
    "formats": formats,
    "functions": functions,
    "metrics": metrics,
    "output-formats": output_formats,
    "python": python,
    "span-operators": span_operators,
    "stdlib": stdlib,
    "table-functions": table_functions,
    "units": units,
}


def _page(lines: Iterable[str]) -> str:
    return f"{MADE}\n{chr(10).join(lines).rstrip()}\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _name(rule: FunctionRule) -> str:
    return rule.name


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
