"""Hypothesis strategies for every class of the syntax tree, as the parser would make it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dctv.record import replace
from dctv.syntax import ast, commands
from dctv.syntax.logical import logical
from dctv.syntax.parser import default_table

Strategy = SearchStrategy[Any]


def few(items: Strategy, least: int = 0, most: int = 2) -> Strategy:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


words = st.sampled_from(
    ["a", "b", "_ts", "über", "print|B", "", "`", "two words", "1st", '"', "x'y", *sorted(default_table().keywords)]
)
texts = words | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
names = st.builds(ast.Name, texts.filter(bool))
paths = st.builds(ast.Path, st.lists(names, min_size=1, max_size=3).map(tuple))
units = st.none() | st.sampled_from(["ms", "e5", "x1f", "miles/hour", "µs", "in", "E", "_s", "`", "²"])
digits = st.sampled_from(["0", "17", "1.5", "1.", ".5", "1e9", "1.5e-3", "0x1f", "0XFF"])
numbers = st.builds(ast.Number, digits, units)
literals = st.one_of(
    numbers,
    st.builds(ast.String, texts),
    st.builds(ast.Constant, st.sampled_from([None, True, False])),
    st.builds(ast.Interval, texts),
    st.builds(ast.Bind, st.integers(0, 99) | st.sampled_from(["x", "from", "_1"])),
)
type_words = st.sampled_from(["INT64", "TEXT", "DOUBLE PRECISION", "TIMESTAMP WITH TIME ZONE", "DECIMAL"])
lengths = few(st.none() | st.integers(1, 9))
types = st.one_of(
    st.builds(ast.TypeName, type_words, st.lists(st.integers(0, 38), max_size=2).map(tuple), lengths),
    st.builds(ast.TypeName, st.just("ENUM"), dimensions=lengths, labels=few(texts, 1)),
)
flags = st.booleans()
choices = st.builds(ast.Choice, st.sampled_from(get_args(ast.LikeOp)), texts, flags)
sizes, seeds = st.integers(1, 99).map(Fraction), st.integers(0, 9)
samples = st.one_of(
    st.builds(ast.Sample, sizes, flags, st.sampled_from([None, "RESERVOIR"]), seeds),
    st.builds(ast.Sample, sizes, st.just(value=True), st.sampled_from(["BERNOULLI", "SYSTEM"]), seeds),
)


def maybe(items: Strategy) -> Strategy:
    return st.none() | items


@cache
def exprs(depth: int) -> Strategy:
    columns = st.builds(ast.Column, paths)
    if depth == 0:
        return literals | columns
    inner = exprs(depth - 1)
    query = selects(depth - 1)
    binary = st.sampled_from(get_args(ast.BinaryOp))
    return st.one_of(
        literals,
        columns,
        st.builds(ast.Unary, st.sampled_from(get_args(ast.UnaryOp)), inner),
        st.builds(ast.Binary, binary, inner, inner),
        st.builds(ast.Binary, binary, inner, inner),
        st.builds(logical, st.sampled_from(["AND", "OR"]), few(inner, 2, 3), st.none()),
        st.builds(ast.Like, st.sampled_from(["LIKE", "ILIKE", "GLOB", "REGEXP"]), inner, inner, maybe(inner), flags),
        st.builds(ast.Collate, inner, paths),
        st.builds(ast.Truth, inner, flags, flags),
        st.builds(ast.Between, inner, inner, inner, flags),
        st.builds(ast.InList, inner, few(inner, 1), flags),
        st.builds(ast.InSelect, inner, query, flags),
        st.builds(ast.Quantified, inner, st.sampled_from(["<", "<=", ">", ">="]), query, flags),
        st.builds(ast.InUnit, inner, st.sampled_from(["ms", "in", "miles/hour", "from", "min", "ROW"])),
        st.builds(ast.Case, maybe(inner), few(st.tuples(inner, inner), 1), maybe(inner)),
        st.builds(ast.Cast, inner, types, flags),
        st.builds(ast.Exists, query),
        st.builds(ast.Columns, st.builds(ast.String, texts) | st.just(ast.Star())),
        st.builds(ast.ScalarSelect, query),
        st.builds(ast.Row, few(inner, 1)),
        st.deferred(lambda: nested(depth - 1)),
        st.deferred(lambda: calls(depth - 1)),
    )


@cache
def nested(depth: int) -> Strategy:
    inner = exprs(depth)
    members = st.lists(st.tuples(names, inner), min_size=1, max_size=2)
    apart = members.filter(lambda pairs: len({name.text.lower() for name, _ in pairs}) == len(pairs))
    return st.one_of(
        st.builds(ast.List, few(inner)),
        st.builds(ast.Struct, apart.map(tuple)),
        st.builds(ast.Map, few(st.tuples(inner, inner))),
        st.builds(ast.Index, inner, inner),
        st.builds(ast.Slice, inner, maybe(inner), maybe(inner), maybe(inner)),
        st.builds(ast.Member, inner, names),
    )


@cache
def calls(depth: int) -> Strategy:
    inner = exprs(depth)
    tail = {"filter": maybe(inner), "nulls": st.sampled_from([None, "IGNORE", "RESPECT"])}
    tail["over"] = maybe(names | windows(depth))
    keywords = few(st.tuples(names, inner))
    parameters = st.lists(names, min_size=1, max_size=2, unique_by=lambda n: n.text.lower()).map(tuple)
    lambdas = st.builds(ast.Lambda, parameters, exprs(max(depth - 1, 0)))
    return st.one_of(
        st.builds(ast.Call, paths, st.tuples(inner, lambdas)),
        st.builds(ast.Call, paths, st.sampled_from([(), (ast.Star(),)]), **tail),
        st.builds(ast.Call, paths, few(inner, 1), keywords, flags, few(order_terms(depth)), **tail),
        st.builds(ast.Call, paths, st.just(()), few(st.tuples(names, inner), 1), **tail),
    )


@cache
def order_terms(depth: int) -> Strategy:
    return st.builds(ast.OrderTerm, exprs(depth), flags, st.sampled_from([None, "FIRST", "LAST"]))


@cache
def windows(depth: int) -> Strategy:
    ends = st.sampled_from(["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING", "CURRENT ROW"])
    bounds = st.one_of(
        st.builds(ast.Bound, ends), st.builds(ast.Bound, st.sampled_from(["PRECEDING", "FOLLOWING"]), exprs(depth))
    )
    frames = st.builds(
        ast.Frame,
        st.sampled_from(["ROWS", "RANGE", "GROUPS"]),
        bounds,
        maybe(bounds),
        st.sampled_from([None, "CURRENT ROW", "GROUP", "TIES"]),
    )
    return st.builds(ast.Window, maybe(names), few(exprs(depth)), few(order_terms(depth)), maybe(frames))


values: Strategy = st.deferred(
    lambda: st.one_of(
        literals,
        st.builds(ast.Unary, st.sampled_from(["-", "+"]), values),
        st.builds(ast.Binary, st.sampled_from(["+", "-", "*", "/", "//", "%"]), values, values),
    )
)


@cache
def arguments(depth: int) -> Strategy:
    simple = st.builds(ast.ValueArgument, values) | st.builds(ast.TableArgument, paths)
    if depth == 0:
        return simple
    inner = arguments(depth - 1)
    return st.one_of(
        simple,
        st.builds(ast.ListArgument, few(inner)),
        st.builds(ast.DictArgument, few(st.tuples(names, inner))),
        st.builds(ast.CallArgument, st.builds(ast.TableCall, paths, few(inner), few(st.tuples(names, inner)))),
        st.builds(ast.SelectArgument, selects(depth - 1)),
    )


@cache
def tables(depth: int) -> Strategy:
    alias = maybe(st.builds(ast.Alias, names, few(names)))
    files = st.builds(ast.TableFile, st.builds(ast.String, texts), alias, maybe(paths))
    simple = st.builds(ast.TableName, paths, alias) | files
    if depth == 0:
        return simple
    inner = tables(depth - 1)
    kinds = ["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ASOF", "ASOF LEFT", "SEMI", "ANTI"]
    conventional = st.sampled_from(kinds)
    nearest = st.builds(ast.Nearest, st.integers(1, 99), exprs(depth - 1), flags)
    into = st.sampled_from(["INTO", "FROM"])
    argument = arguments(depth - 1)
    return st.one_of(
        simple,
        st.builds(ast.TableCall, paths, few(argument), few(st.tuples(names, argument)), alias),
        st.builds(ast.TableSelect, selects(depth - 1), alias),
        st.builds(ast.Join, conventional, inner, inner, maybe(exprs(depth - 1))),
        st.builds(ast.Join, conventional, inner, inner, st.none(), few(names, 1)),
        st.builds(ast.Join, st.just("INNER"), inner, inner, comma=flags),
        st.builds(ast.Join, st.sampled_from(["INNER", "LEFT"]), inner, inner, nearest=nearest),
        st.builds(ast.SpanJoin, st.sampled_from(["INNER", "OUTER", "LEFT", "RIGHT"]), inner, inner, maybe(names)),
        st.builds(ast.SpanBroadcast, st.sampled_from(["INNER", "OUTER"]), into, inner, inner, maybe(names)),
        st.builds(ast.TableSample, inner, samples),
        pivots(depth - 1),
    )


@cache
def pivots(depth: int) -> Strategy:
    table, expr, alias = tables(depth), exprs(depth), maybe(st.builds(ast.Alias, names, few(names)))
    columns = few(st.builds(ast.ResultColumn, expr, maybe(names)), 1)
    chosen = st.builds(ast.PivotChoice, expr, maybe(few(st.tuples(expr, maybe(names)), 1)))
    return st.one_of(
        st.builds(ast.Pivot, table, columns, few(chosen, 1), maybe(few(expr, 1)), alias),
        st.builds(ast.Pivot, table, columns, st.just(()), few(expr), alias),
        st.builds(ast.Unpivot, table, columns, names, few(names, 1), flags, alias),
    )


@cache
def groups(depth: int) -> Strategy:
    sets = few(few(exprs(depth)), 1)
    flat = st.builds(ast.GroupingSets, st.sampled_from(["ROLLUP", "CUBE", "GROUPING SETS"]), sets)
    several = flat | st.builds(ast.GroupingSets, st.just("GROUPING SETS"), few(few(exprs(depth)) | flat, 1))
    return st.one_of(
        st.just(ast.GroupBy(all=True)),
        st.builds(ast.GroupBy, few(exprs(depth) | several, 1)),
        st.builds(ast.GroupUsingPartition, flags, few(names)),
        st.builds(ast.GroupUsingSpans, tables(depth), flags),
    )


@cache
def cores(depth: int) -> Strategy:
    expr = exprs(depth)
    renames = few(st.tuples(paths, names))
    star = st.builds(ast.Star, maybe(paths), few(paths), few(st.tuples(expr, names)), renames, maybe(choices))
    column = st.builds(ast.ResultColumn, expr, maybe(names)) | st.builds(ast.ResultColumn, star)
    clauses = {
        "distinct": flags,
        "source": maybe(tables(depth)),
        "where": maybe(expr),
        "group": maybe(groups(depth)),
        "having": maybe(expr),
        "qualify": maybe(expr),
        "windows": few(st.tuples(names, windows(depth))),
    }
    return st.one_of(
        st.builds(ast.Core, few(column, 1), **clauses),
        st.builds(ast.Core, few(column, 1), **{**clauses, "distinct": st.just(value=False)}, distinct_on=few(expr, 1)),
        st.builds(ast.Core, few(column), st.sampled_from(["SPAN", "EVENT"]), **clauses),
    )


def _chain(op: Any, parts: tuple[ast.Body, ...], *words: bool) -> ast.Compound:
    """Combine selects; a chain that comes first goes on if its operator is the same."""
    first, *rest = parts
    made = ast.Compound(op, parts, *words)
    if isinstance(first, ast.Compound) and first == replace(made, parts=first.parts):
        return replace(made, parts=(*first.parts, *rest))
    return made


@cache
def bodies(depth: int) -> Strategy:
    simple = st.builds(ast.Values, few(few(exprs(depth), 1), 1))
    if depth == 0:
        return simple
    inner = bodies(depth - 1) | ordered_selects(depth - 1)
    op = st.sampled_from(["UNION", "INTERSECT", "EXCEPT"])
    return st.one_of(simple, cores(depth - 1), st.builds(_chain, op, few(inner, 2, 3), flags, flags))


@cache
def ordered_selects(depth: int) -> Strategy:
    """A select that is more than its body, so that parentheses around it are kept."""
    body = bodies(depth) if depth == 0 else bodies(depth) | ordered_selects(depth - 1)
    by_all = st.builds(ast.OrderTerm, st.just(ast.Star()), flags, st.sampled_from([None, "FIRST", "LAST"]))
    order = few(order_terms(depth)) | st.tuples(by_all)
    if depth == 0:
        limits = exprs(0) | st.builds(ast.Percent, exprs(0))
        return st.builds(ast.Select, body, limit=limits, offset=maybe(exprs(0)), order_by=order)
    common = st.builds(ast.CommonTable, names, selects(depth - 1), few(names))
    return st.one_of(
        st.builds(ast.Select, body, limit=exprs(depth) | st.builds(ast.Percent, exprs(0)), order_by=order),
        st.builds(ast.Select, body, order_by=few(order_terms(depth), 1), limit=maybe(exprs(0)), offset=maybe(exprs(0))),
        st.builds(ast.Select, body, few(common, 1), flags, order),
        st.builds(ast.Select, body, offset=exprs(depth)),
    )


@cache
def selects(depth: int) -> Strategy:
    return st.builds(ast.Select, bodies(depth)) | ordered_selects(depth)


@cache
def statements(depth: int) -> Strategy:
    query, strings = selects(depth), st.builds(ast.String, texts)
    return st.one_of(
        st.builds(ast.SelectStatement, query),
        st.builds(ast.CreateView, paths, query, few(names), flags, if_not_exists=flags),
        st.builds(ast.CreateView, paths, query, few(names, 1), flags, st.just(value=True), flags),
        st.builds(ast.CreateStateSystem, paths, query, flags),
        st.builds(ast.DropView, paths, flags),
        st.builds(ast.DropStateSystem, paths, flags),
        st.builds(ast.DropAll, paths),
        st.builds(ast.MountTrace, strings, paths, few(st.tuples(names, arguments(depth)))),
        st.builds(ast.MountTraces, strings, paths, few(st.tuples(names, arguments(depth)))),
        st.builds(ast.Set, paths, exprs(depth)),
        st.builds(ast.Explain, query, st.sampled_from(["PLAN", "ANALYZE", "SQL"])),
        st.builds(ast.Describe, paths | query),
        st.builds(ast.Summarize, paths | query),
        st.builds(ast.ShowTables, maybe(paths)),
        st.builds(commands.Show, st.sampled_from(["FUNCTIONS", "UNITS", "MOUNTS"])),
        st.builds(ast.Assert, exprs(depth), maybe(exprs(depth))),
        st.builds(commands.CreateTable, paths, query, few(names), flags, flags),
        st.builds(commands.DropTable, paths, flags),
        st.builds(commands.Copy, paths | query, strings, few(st.tuples(names, maybe(strings)))),
        st.builds(commands.CreateMacro, paths, few(st.tuples(names, maybe(exprs(depth)))), exprs(depth) | query, flags),
        st.builds(commands.DropMacro, paths, flags),
        st.builds(commands.CreateType, paths, types | query, flags, flags),
        st.builds(commands.DropType, paths, flags),
        st.builds(commands.Expect, exprs(depth), maybe(exprs(depth))),
    )
