"""Convert the arguments of `dctv compare` to a request: queries, output, and conditions of failure."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dctv import readers
from dctv.catalog.files import find_trace
from dctv.cli.comparing.words import better_of, names, parse_sides
from dctv.cli.formats import writer_of
from dctv.cli.texts import SqlText, read_texts
from dctv.comparison import significance
from dctv.comparison.bundled import Metric, fitting, metric_of
from dctv.comparison.judging import Directions, check_alpha
from dctv.contracts.reader_errors import readers_in
from dctv.contracts.writer import Writer
from dctv.errors import UsageError
from dctv.record import record


@record
class Request:
    """The parsed arguments."""

    sides: tuple[tuple[str, list[str]], tuple[str, list[str]]]
    """Names and traces."""
    texts: list[SqlText]
    metrics: Sequence[Metric]
    """The bundled queries of the texts, if they come from these."""
    by: list[str]
    better: Directions
    writer: Writer
    chosen: bool
    """Whether the user named the queries."""

    @property
    def traces(self) -> tuple[str, ...]:
        """The distinct traces."""
        return tuple(dict.fromkeys(trace for _, traces in self.sides for trace in traces))

    def better_in(self, number: int) -> Directions:
        """Return which values are better in a result: as given, else according to the bundled query."""
        better = self.metrics[number].better if self.metrics else {}
        return Directions(self.better.usual, {**better, **self.better.columns})


def request_of(args: Namespace) -> Request:
    """Parse the arguments.

    Raises:
        UsageError: they contradict each other.
        TraceError: there is no such trace.
    """
    writer = writer_of(args.format, args.output)
    compared = parse_sides(args.words)
    _check_judging(args, [len(traces) for _, traces in compared.sides])
    better, by = better_of(args.better), names(args.by)
    if compared.others or args.commands or args.file:
        if args.metric:
            raise UsageError("found both SQL and --metric, expected one of them")
        texts = read_texts(compared.others, args.file, args.commands)
        return Request(compared.sides, texts, (), by, better, writer, chosen=True)
    named = names(args.metric)
    metrics = [metric_of(name) for name in named] or fitting(formats_of(compared.sides))
    texts = [SqlText(f"metrics/{one.name}.sql", one.sql) for one in metrics]
    return Request(compared.sides, texts, metrics, by, better, writer, chosen=bool(named))


def formats_of(sides: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Return the formats of traces."""
    registry = readers_in(readers)
    return list(dict.fromkeys(find_trace(trace, registry, None).reader.name for _, traces in sides for trace in traces))


def _check_judging(args: Namespace, runs: Sequence[int]) -> None:
    if args.fail_above is None:
        for option, value in (("--better", args.better), ("--alpha", args.alpha), ("--at-least", args.at_least)):
            if value:
                raise UsageError(f"{option} requires --fail-above")
    if args.alpha is not None:
        if not significance.is_available():
            raise significance.missing("--alpha")
        check_alpha(args.alpha, *runs)
