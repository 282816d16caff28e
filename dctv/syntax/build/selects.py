"""Forms of selects and their clauses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import Any, Literal, TypeAlias, cast

from dctv.errors import ParseError, Place
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.build.names import one, order_term, unquote
from dctv.syntax.lexer import Raw
from dctv.syntax.parser import MAX_DEPTH, TooDeep

Group: TypeAlias = ast.GroupBy | ast.GroupUsingPartition | ast.GroupUsingSpans
Cut: TypeAlias = tuple[ast.Expr | None, ast.Expr | None]
"""LIMIT and OFFSET."""
NamedWindows: TypeAlias = tuple[tuple[ast.Name, ast.Window], ...]
Windowed: TypeAlias = tuple[ast.Expr | None, NamedWindows | None]
"""QUALIFY and WINDOW."""
Size: TypeAlias = tuple[Fraction, bool]
"""A number of rows, or a percentage, and which of the two it is."""


def with_(_at: Place, recursive: bool, *tables: ast.CommonTable) -> tuple[bool, tuple[ast.CommonTable, ...]]:
    """Make a WITH clause."""
    return recursive, tables


def common_table(
    at: Place,
    name: ast.Name,
    columns: tuple[ast.Name, ...] | None,
    keys: tuple[ast.ResultColumn, ...] | None,
    kept: bool | None,
    select: ast.Select,
) -> ast.CommonTable:
    """Make one table of a WITH clause."""
    return ast.CommonTable(name, select, columns or (), kept, keys or (), place=at)


def select(at: Place, *parts: object) -> ast.Select:
    """Make a whole select; a lone select in parentheses is not wrapped once more."""
    *before, clause, order_by, ends = parts
    limit, offset = cast("Cut", ends)
    recursive, tables = cast("tuple[bool, tuple[ast.CommonTable, ...]]", before[0]) if before else (False, ())
    body = _body(cast("ast.Body", clause))
    if isinstance(body, ast.Select) and not (before or order_by or limit or offset):
        return replace(body, place=at)
    return ast.Select(
        body,
        tables,
        recursive,
        cast("tuple[ast.OrderTerm, ...]", order_by or ()),
        limit,
        offset,
        place=at,
    )


def _body(clause: ast.Body) -> ast.Body:
    """Return the body of a select in parentheses that holds nothing else."""
    plain = isinstance(clause, ast.Select) and not (clause.ctes or clause.order_by or clause.limit or clause.offset)
    return clause.body if isinstance(clause, ast.Select) and plain else clause


def cut(_at: Place, limit: ast.Expr | None = None, offset: ast.Expr | None = None) -> Cut:
    """Make LIMIT and OFFSET."""
    return limit, offset


def cut_after(_at: Place, offset: ast.Expr, *parts: ast.Expr | str | None) -> Cut:
    """Make LIMIT and OFFSET where OFFSET comes first."""
    return cast("ast.Expr | None", parts[-1] if parts else None), offset


def one_row(at: Place, *_words: str) -> ast.Number:
    """Make the limit of FETCH FIRST ROW."""
    return ast.Number("1", place=at)


def some_rows(at: Place, _first: str, count: Raw, _rows: str) -> ast.Number:
    """Make the limit of FETCH FIRST n ROWS."""
    return ast.Number(count.text.replace("_", ""), place=at)


def counted_rows(_at: Place, _first: str, count: ast.Expr, _rows: str) -> ast.Expr:
    """Make the limit of FETCH FIRST (expression) ROWS."""
    return count


def percent(at: Place, operand: ast.Expr) -> ast.Percent:
    """Make a share of the rows."""
    return ast.Percent(operand, place=at)


def compound(at: Place, first: ast.Body, *rest: Any) -> ast.Body:
    """Make a chain of selects combined; each part behind the first has its operator, ALL and BY NAME before it.

    Raises:
        TooDeep: the engine, which nests all parts but those of one UNION, would nest too many.
    """
    chain: ast.Body = _body(first)
    levels = 0
    steps = zip(rest[::4], rest[1::4], rest[2::4], map(_body, rest[3::4]), strict=True)
    for (op, every, by_name), parts in groupby(steps, lambda step: step[:3]):
        behind = [part for *_, part in parts]
        levels += 1 if op == "UNION" else len(behind)
        if levels > MAX_DEPTH:
            raise TooDeep(at.start, at.stop)
        assert behind[-1].place is not None
        place = Place(at.source, at.start, behind[-1].place.stop)
        chain = ast.Compound(op, (chain, *behind), every, by_name, place=place)
    return chain


def values(at: Place, *rows: tuple[ast.Expr, ...]) -> ast.Values:
    """Make a table from rows of values."""
    return ast.Values(rows, place=at)


def core(at: Place, mode: str, columns: tuple[ast.ResultColumn, ...] | None, *clauses: object) -> ast.Core:
    """Make a select core."""
    kind = next((word for word in mode.split() if word in {"SPAN", "EVENT"}), "REGULAR")
    source, where, group, having, windowed, sample = clauses
    qualify, windows = cast("Windowed", windowed or (None, None))
    if isinstance(sample, ast.Sample):
        source, sample = _sampled(cast("ast.Table | None", source), sample)
    return ast.Core(
        columns or (),
        cast("Literal['REGULAR', 'SPAN', 'EVENT']", kind),
        "DISTINCT" in mode.split(),
        cast("ast.Table | None", source),
        cast("ast.Expr | None", where),
        cast("Group | None", group),
        cast("ast.Expr | None", having),
        qualify,
        windows or (),
        sample=cast("ast.Sample | None", sample),
        place=at,
    )


def windows_alone(_at: Place, windows: NamedWindows | None) -> Windowed:
    """Make a select's windows with names, without QUALIFY."""
    return None, windows


def windows_first(_at: Place, windows: NamedWindows, qualify: ast.Expr) -> Windowed:
    """Make a select's QUALIFY that follows its windows with names."""
    return qualify, windows


def core_on(at: Place, on: tuple[ast.Expr, ...], columns: tuple[ast.ResultColumn, ...], *clauses: object) -> ast.Core:
    """Make a select core that keeps one of the rows that agree in some values."""
    return replace(core(at, "", columns, *clauses), distinct_on=on)


def core_from_on(
    at: Place, source: ast.Table, on: tuple[ast.Expr, ...], columns: tuple[ast.ResultColumn, ...], *clauses: object
) -> ast.Core:
    """Make a select core whose FROM comes first, with DISTINCT ON."""
    return core_on(at, on, columns, source, *clauses)


def using_sample(_at: Place, _using: Raw, sample: ast.Sample) -> ast.Sample:
    """Make the sample of USING SAMPLE."""
    return sample


def sample_size(at: Place, number: Raw) -> Size:
    """Make a number of rows."""
    found = _plain(at, number)
    if found.denominator != 1:
        raise ParseError("a sample has a whole number of rows", at, hint=f"`{number.text}%` is a share of them")
    return found, False


def sample_share(at: Place, number: Raw) -> Size:
    """Make a share of the rows."""
    found = _plain(at, number)
    if found > 100:
        raise ParseError("a sample has at most 100 percent of the rows", at)
    return found, True


def _plain(at: Place, number: Raw) -> Fraction:
    try:
        return Fraction(number.text.replace("_", ""))
    except ValueError:
        raise ParseError(f"found `{number.text}`, expected a number without a unit", at) from None


def sample(at: Place, size: Size, seed: Raw | None = None) -> ast.Sample:
    """Make a sample."""
    return ast.Sample(*size, seed=_seed(at, seed), place=at)


def sample_by(at: Place, size: Size, method: ast.Name, seed: Raw | None = None) -> ast.Sample:
    """Make a sample with a method."""
    methods = {"RESERVOIR", "BERNOULLI", "SYSTEM"}
    if method.text.upper() not in methods:
        listed = ", ".join(sorted(methods)).lower()
        raise ParseError(f"found the method `{method.text}`, expected one of {listed}", method.place or at)
    how = cast("Literal['RESERVOIR', 'BERNOULLI', 'SYSTEM']", method.text.upper())
    if how != "RESERVOIR" and not size[1]:
        raise ParseError(f"`{method.text}` takes a share of the rows", at, hint="reservoir takes a number of them")
    return ast.Sample(*size, how, _seed(at, seed), place=at)


def sample_of(at: Place, method: ast.Name, size: Size, seed: Raw | None = None) -> ast.Sample:
    """Make a sample whose method precedes its size."""
    return sample_by(at, size, method, seed)


def _seed(at: Place, number: Raw | None) -> int:
    if number is None:
        return 0
    found = _plain(at, number)
    if found.denominator != 1 or found >= 2**63:
        raise ParseError(f"found the seed `{number.text}`, expected a whole number of 64 bits", at)
    return int(found)


def _sampled(source: ast.Table | None, sample: ast.Sample) -> tuple[ast.Table, ast.Sample | None]:
    """Apply USING SAMPLE: for one table it is TABLESAMPLE, for joined ones it comes after the join."""
    if source is None:
        raise ParseError("USING SAMPLE needs a FROM", sample.place)
    if isinstance(source, ast.SpanJoin | ast.SpanBroadcast):
        hint = "put the join into a subquery, or TABLESAMPLE behind one of its tables"
        raise ParseError("USING SAMPLE cannot sample a span join", sample.place, hint=hint)
    if isinstance(source, ast.Join):
        return source, sample
    return ast.TableSample(source, sample, place=source.place), None


def core_of_all(at: Place, source: ast.Table, *clauses: object) -> ast.Core:
    """Make a select core of all columns for a text without a select list."""
    star = ast.Star(place=source.place)
    return core(at, "", (ast.ResultColumn(star, place=source.place),), source, *clauses)


def table_alone(at: Place, path: ast.Path) -> ast.Core:
    """Make a select core of all columns of a table that is only named."""
    return core_of_all(at, ast.TableName(path, place=path.place), *[None] * 5)


def core_from(
    at: Place, source: ast.Table, mode: str, columns: tuple[ast.ResultColumn, ...] | None, *clauses: object
) -> ast.Core:
    """Make a select core whose FROM comes first."""
    return core(at, mode, columns, source, *clauses)


def result_column(at: Place, expr: ast.Expr, name: ast.Name | None = None) -> ast.ResultColumn:
    """Make a result column."""
    return ast.ResultColumn(expr, name, place=at)


def labelled(at: Place, name: ast.Name, expr: ast.Expr) -> ast.ResultColumn:
    """Make a result column whose name comes first."""
    return ast.ResultColumn(expr, name, place=at)


def star(at: Place, *parts: object) -> ast.Star:
    """Make a star with an optional qualifier."""
    *qualifier, exclude, replacements, renames, choice = parts
    return ast.Star(
        cast("ast.Path", qualifier[0]) if qualifier else None,
        cast("tuple[ast.Path, ...]", exclude or ()),
        cast("tuple[tuple[ast.Expr, ast.Name], ...]", replacements or ()),
        cast("tuple[tuple[ast.Path, ast.Name], ...]", renames or ()),
        cast("ast.Choice | None", choice),
        place=at,
    )


def excepted(_at: Place, _except: Raw, paths: tuple[ast.Path, ...]) -> tuple[ast.Path, ...]:
    """Make the columns that EXCEPT, a synonym of EXCLUDE, removes from a star."""
    return paths


def excepted_one(_at: Place, _except: Raw, path: ast.Path) -> tuple[ast.Path, ...]:
    """Make the one column that EXCEPT leaves out of a star."""
    return (path,)


def choice_matching(at: Place, pattern: Raw) -> ast.Choice:
    """Make a choice of columns in whose names a regular expression is found."""
    return ast.Choice("REGEXP", unquote(pattern.text), place=at)


def choice(at: Place, op: str, pattern: Raw, escape: Raw | None = None) -> ast.Choice:
    """Make a choice of columns by their names."""
    name = cast("ast.LikeOp", op.removeprefix("NOT "))
    mark = "" if escape is None else unquote(escape.text)
    if escape is not None and (name not in ("LIKE", "ILIKE") or len(mark) != 1):
        found = f"found {escape.text} after {name}"
        raise ParseError(f"{found}, ESCAPE takes one character and follows LIKE or ILIKE", at)
    return ast.Choice(name, unquote(pattern.text), op.startswith("NOT "), mark, place=at)


def group_by_all(at: Place) -> ast.GroupBy:
    """Make a grouping by all columns that are no aggregates."""
    return ast.GroupBy(all=True, place=at)


def group_by(at: Place, *items: ast.Expr | ast.GroupingSets) -> ast.GroupBy:
    """Make a grouping by expressions."""
    return ast.GroupBy(items, place=at)


def group_of_all(at: Place) -> ast.GroupingSets:
    """Make `()` beside other groupings: it adds no column to them."""
    return ast.GroupingSets("GROUPING SETS", ((),), place=at)


def grouping_sets(at: Place, kind: str, *sets: tuple[ast.Expr, ...] | ast.GroupingSets) -> ast.GroupingSets:
    """Make several groupings at once."""
    inner = next((one for one in sets if isinstance(one, ast.GroupingSets)), None)
    if inner is not None and kind != "GROUPING SETS":
        raise ParseError(
            f"{kind} takes expressions, found {inner.kind}", inner.place, hint=f"GROUPING SETS takes {inner.kind} (...)"
        )
    return ast.GroupingSets(cast("Literal['ROLLUP', 'CUBE', 'GROUPING SETS']", kind), sets, place=at)


def grouping_set(
    _at: Place, expr: ast.Expr | ast.GroupingSets | None = None
) -> tuple[ast.Expr, ...] | ast.GroupingSets:
    """Make one grouping; `(a, b)` was read as a row."""
    if expr is None:
        return ()
    if isinstance(expr, ast.GroupingSets):
        return expr
    return expr.items if isinstance(expr, ast.Row) else (expr,)


def group_using_partition(at: Place, overlap: str, names: tuple[ast.Name, ...] = ()) -> ast.GroupUsingPartition:
    """Make a span departition."""
    return ast.GroupUsingPartition(overlap.endswith("INTERSECT"), names, place=at)


def group_using_spans(at: Place, overlap: str, table: ast.Table) -> ast.GroupUsingSpans:
    """Make a span group."""
    return ast.GroupUsingSpans(table, overlap.endswith("INTERSECT"), place=at)


def order_by_all(at: Place, direction: str, nulls: str) -> tuple[ast.OrderTerm, ...]:
    """Make an order by all columns."""
    return (order_term(at, ast.Star(place=at), direction, nulls),)


FORMS: dict[str, Callable[..., object]] = {
    "with": with_,
    "common_table": common_table,
    "select": select,
    "lone_select": one,
    "cut": cut,
    "cut_after": cut_after,
    "one_row": one_row,
    "some_rows": some_rows,
    "counted_rows": counted_rows,
    "percent": percent,
    "using_sample": using_sample,
    "sample_size": sample_size,
    "sample_share": sample_share,
    "sample": sample,
    "sample_by": sample_by,
    "sample_of": sample_of,
    "compound": compound,
    "values": values,
    "core": core,
    "core_of_all": core_of_all,
    "windows_alone": windows_alone,
    "windows_first": windows_first,
    "core_on": core_on,
    "core_from_on": core_from_on,
    "core_from": core_from,
    "table_alone": table_alone,
    "order_by_all": order_by_all,
    "result_column": result_column,
    "labelled": labelled,
    "star": star,
    "choice": choice,
    "choice_matching": choice_matching,
    "excepted": excepted,
    "excepted_one": excepted_one,
    "group_by_all": group_by_all,
    "group_by": group_by,
    "group_of_all": group_of_all,
    "grouping_sets": grouping_sets,
    "grouping_set": grouping_set,
    "group_using_partition": group_using_partition,
    "group_using_spans": group_using_spans,
    "order_term": order_term,
}
