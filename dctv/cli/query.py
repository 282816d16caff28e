"""`dctv query`: runs SQL from the command line, from files or from stdin, for people, scripts and CI."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dctv.writers
from dctv.cli.arguments import add_session_options, judge_partial, open_session, parameters, split_mounts
from dctv.cli.command import Command
from dctv.cli.junit import Case, junit_xml
from dctv.console.attended import Check, attended, end_process
from dctv.console.narration import say, warn
from dctv.console.progress import ProgressBar
from dctv.console.sink import Sink, file_sink, stdout_sink
from dctv.console.verdict import FAILED, OK, PARTIAL
from dctv.contracts.shelf import scan
from dctv.contracts.writer import Writer
from dctv.errors import DctvError, Place, UsageError, render
from dctv.session import Asserted, Result, Session


@dataclass(frozen=True, slots=True)
class Text:
    """SQL to run, and where it came from."""

    name: str
    sql: str
    base: Path | None = None
    """The folder that paths in MOUNT TRACE start from."""


@dataclass(slots=True)
class Tally:
    """What running the texts came to."""

    results: int = 0
    rows: int = 0
    cases: list[Case] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How many assertions failed."""
        return sum(case.failure is not None for case in self.cases)


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv query`."""
    formats = scan(dctv.writers, Writer)
    parser.add_argument("words", nargs="*", metavar="SQL | NAME=PATH", help="one SQL text; traces to mount")
    parser.add_argument("-f", "--file", action="append", default=[], help="run this file; - is stdin; may be repeated")
    parser.add_argument("--format", choices=sorted(formats), help="result format (default: by -o, else table)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write here, and only if all goes well")
    parser.add_argument(
        "--param", action="append", default=[], metavar="K=V", help="value of :K, or of ?K for a number"
    )
    parser.add_argument("--fail-on-rows", action="store_true", help="exit with 1 if any result has rows")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="report every ASSERT as a JUnit test case")
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Mount, execute, write; return the exit code."""
    words, mounts = split_mounts(args.words)
    writer = _writer(args.format, args.output)
    params = parameters(args.param)
    texts = _texts(words, args.file)
    bar = ProgressBar()
    tally = Tally()
    with _junit(args.junit, tally), _sink(args.output, bar) as sink:
        session = open_session(args, bar.update)

        def work(check: Check) -> int:
            for name, path in mounts:
                session.mount(path, name)
            for text in texts:
                _execute(session, text, params, _Writing(writer, sink, bar, check, tally))
            return _judge(session, args, tally)

        def abandon() -> None:
            sink.discard()
            end_process()

        try:
            code = attended(work, session.interrupt, abandon)
        finally:
            bar.clear()
            session.close()
        if code == PARTIAL:
            sink.discard()
    return code


@dataclass(frozen=True, slots=True)
class _Writing:
    writer: Writer
    sink: Sink
    bar: ProgressBar
    check: Check
    tally: Tally


def _execute(session: Session, text: Text, params: dict[str | int, object] | None, to: _Writing) -> None:
    try:
        for outcome in session.execute(text.sql, params, source_name=text.name, base=text.base):
            if isinstance(outcome, Result):
                _write(outcome, to)
            elif isinstance(outcome, Asserted):
                to.bar.clear()
                _note(outcome, text.name, to.tally)
            to.check()
    except DctvError as error:
        to.tally.cases.append(Case(text.name, "runs to its end", error=render(error)))
        raise


def _write(result: Result, to: _Writing) -> None:
    tally = to.tally
    if tally.results and not to.writer.many:
        raise UsageError(
            f"a file of format `{to.writer.name}` holds one result, found a second one",
            hint="write one SELECT, or choose another --format",
        )
    if tally.results:
        to.sink.stream.write(to.writer.between)
    tally.rows += to.writer.write(result, to.sink.stream)
    tally.results += 1
    to.sink.stream.flush()
    to.bar.clear()
    warn(result.warnings)


def _note(asserted: Asserted, source: str, tally: Tally) -> None:
    name = asserted.message or asserted.text
    failure = None
    if not asserted.passed:
        failure = f"{_position(asserted.place, source)}: assertion failed: {name}"
        say(failure)
    tally.cases.append(Case(source, name, failure))


def _position(place: Place | None, source: str) -> str:
    if place is None:
        return source
    line, column = place.source.position(place.start)
    return f"{place.source.name}:{line}:{column}"


def _judge(session: Session, args: Namespace, tally: Tally) -> int:
    code = judge_partial(session, allow=args.allow_partial)
    if code == OK and args.fail_on_rows and tally.rows:
        say(f"error: found {tally.rows} rows, expected none (--fail-on-rows)")
        code = FAILED
    return FAILED if code == OK and tally.failures else code


def _writer(name: str | None, output: Path | None) -> Writer:
    formats = scan(dctv.writers, Writer)
    if name is not None:
        return formats[name]
    if output is None:
        return formats["table"]
    for writer in formats.values():
        if output.suffix.lower() in writer.suffixes:
            return writer
    known = ", ".join(suffix for writer in formats.values() for suffix in writer.suffixes)
    raise UsageError(f"the name `{output}` tells no format, expected --format or one of {known}")


def _texts(words: list[str], files: list[str]) -> list[Text]:
    if words and files:
        raise UsageError(f"found both SQL (`{words[0]}`) and -f {files[0]}, expected one of them")
    if len(words) > 1:
        raise UsageError(f"found a second text `{words[1]}`, expected one SQL text", hint="quote the SQL as a whole")
    if not words and not files:
        raise UsageError("found nothing to run, expected SQL or -f FILE")
    return [_checked(Text("<query>", sql)) for sql in words] + [_checked(_read(name)) for name in files]


def _read(name: str) -> Text:
    try:
        if name == "-":
            return Text("<stdin>", sys.stdin.buffer.read().decode("utf-8-sig"))
        path = Path(name)
        return Text(name, path.read_text(encoding="utf-8-sig"), path.parent)
    except OSError as error:
        raise UsageError(f"cannot read `{name}`: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{name}` is not UTF-8 text (byte {error.start})") from error


def _checked(text: Text) -> Text:
    try:
        text.sql.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the SQL is not UTF-8 text (character {error.start})") from error
    return text


def _sink(output: Path | None, bar: ProgressBar) -> AbstractContextManager[Sink]:
    return stdout_sink(bar.clear) if output is None else file_sink(output)


@contextmanager
def _junit(path: Path | None, tally: Tally) -> Iterator[None]:
    """Write the report whether the texts ran to their end or not."""
    try:
        yield
    finally:
        if path is not None:
            with file_sink(path) as sink:
                sink.stream.write(junit_xml(tally.cases))


QUERY = Command("query", "run SQL and print the results", configure, run)
