"""Forms of tables, their joins, and the arguments of table-valued functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, cast

from dctv.errors import ParseError, Place
from dctv.record import record, replace
from dctv.syntax import ast
from dctv.syntax.keywords import JSON_TABLES
from dctv.syntax.lexer import Raw

Condition: TypeAlias = tuple[ast.Expr | None, tuple[ast.Name, ...]]
SpanKind = Literal["INNER", "OUTER", "LEFT", "RIGHT"]
_MOST_NEAREST = 1_000_000
"""The largest number of nearest rows, which are held for each row on the left."""
JoinKind = Literal["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "ASOF", "ASOF LEFT", "SEMI", "ANTI", "POSITIONAL"]


@record
class TableKeyword(ast.Node):
    """`name => argument`, until the call that it belongs to is made."""

    name: ast.Name
    argument: ast.Argument


def comma_join(at: Place, left: ast.Table, right: ast.Table) -> ast.Join:
    """Make the join that a comma is."""
    return ast.Join("INNER", left, right, comma=True, place=at)


def join(at: Place, left: ast.Table, kind: str, right: ast.Table, condition: Condition | ast.Nearest) -> ast.Join:
    """Make a conventional join."""
    plain = kind.removeprefix("NATURAL").strip()
    name = cast("JoinKind", plain.removesuffix(" OUTER") or "INNER")
    if isinstance(condition, ast.Nearest):
        if kind not in ("", "INNER", "LEFT", "LEFT OUTER"):
            hint = "each row on the left has its nearest rows on the right"
            raise ParseError(
                f"found NEAREST of a {kind} JOIN, expected INNER or LEFT", condition.place or at, hint=hint
            )
        return ast.Join(name, left, right, nearest=condition, place=at)
    return ast.Join(name, left, right, condition[0], condition[1], natural=plain != kind, place=at)


def table_values(at: Place, *parts: object) -> ast.TableSelect:
    """Make a table of rows that are listed in FROM."""
    *rows, alias = parts
    values = ast.Values(cast("tuple[tuple[ast.Expr, ...], ...]", tuple(rows)), place=at)
    return ast.TableSelect(ast.Select(values, place=at), cast("ast.Alias | None", alias), place=at)


def table_joined(at: Place, source: ast.Table, alias: ast.Alias) -> ast.TableSelect:
    """Make a table of joined ones, which have one name together."""
    if not isinstance(source, ast.Join):
        hint = "(a JOIN b USING (x)) AS t names a join"
        raise ParseError("the name of a table belongs inside its parentheses", alias.name.place or at, hint=hint)
    every = ast.ResultColumn(ast.Star(place=source.place), place=source.place)
    core = ast.Core((every,), source=source, place=source.place)
    return ast.TableSelect(ast.Select(core, place=source.place), alias, place=at)


def span_join(at: Place, left: ast.Table, kind: str, right: ast.Table, partition: ast.Name | None) -> ast.SpanJoin:
    """Make a span join."""
    name = cast("SpanKind", (kind if kind == "OUTER" else kind.removesuffix(" OUTER")) or "INNER")
    return ast.SpanJoin(name, left, right, partition, place=at)


def span_broadcast(
    at: Place, left: ast.Table, kind: str, direction: str, right: ast.Table, partition: ast.Name | None
) -> ast.SpanBroadcast:
    """Make a span broadcast."""
    into = cast("Literal['INTO', 'FROM']", direction)
    how = cast("Literal['INNER', 'OUTER']", kind or "INNER")
    return ast.SpanBroadcast(how, into, left, right, partition, place=at)


def no_condition(_at: Place) -> Condition:
    """Make the condition of a join without one."""
    return None, ()


def on_condition(_at: Place, expr: ast.Expr) -> Condition:
    """Make the condition of a join from an expression."""
    return expr, ()


def using_condition(_at: Place, names: tuple[ast.Name, ...]) -> Condition:
    """Make the condition of a join from columns."""
    return None, names


def nearest(at: Place, *parts: Raw | str | ast.Expr) -> ast.Nearest:
    """Make the condition of a join with the nearest rows."""
    *counted, word, expr = parts
    count = 1
    for token in counted:
        assert isinstance(token, Raw), token
        if not token.text.isdecimal() or not 0 < int(token.text) <= _MOST_NEAREST:
            found = f"found `{token.text}`, expected the number of nearest rows, from 1 to {_MOST_NEAREST}"
            raise ParseError(found, Place(at.source, token.start, token.stop))
        count = int(token.text)
    return ast.Nearest(count, cast("ast.Expr", expr), word == "SIMILARITY", place=at)


def alias(at: Place, name: ast.Name, columns: tuple[ast.Name, ...] | None) -> ast.Alias:
    """Make the alias of a table."""
    return ast.Alias(name, columns or (), place=at)


def table_name(at: Place, path: ast.Path, alias: ast.Alias | None) -> ast.TableName:
    """Make a table from its name."""
    return ast.TableName(path, alias, place=at)


def table_file(at: Place, file: ast.String, alias: ast.Alias | None) -> ast.TableFile:
    """Make a table from a file."""
    return ast.TableFile(file, alias, place=at)


def table_of_file(at: Place, file: ast.String, table: ast.Path, alias: ast.Alias | None) -> ast.TableFile:
    """Make one of the tables of a file."""
    return ast.TableFile(file, alias, table, place=at)


def table_call(
    at: Place, path: ast.Path, arguments: tuple[ast.Argument | TableKeyword, ...] | None, alias: ast.Alias | None = None
) -> ast.TableCall:
    """Make a call of a table-valued function."""
    plain: list[ast.Argument] = []
    keywords: list[tuple[ast.Name, ast.Argument]] = []
    for argument in arguments or ():
        if isinstance(argument, TableKeyword):
            keywords.append((argument.name, argument.argument))
        elif keywords:
            last = keywords[-1][0].text
            raise ParseError(f"an argument without a name follows the named one `{last}`", argument.place)
        else:
            plain.append(argument)
    return ast.TableCall(path, tuple(plain), tuple(keywords), alias, place=at)


def table_listing(at: Place, name: ast.Name, items: tuple[ast.Expr, ...], alias: ast.Alias | None) -> ast.TableCall:
    """Make a call of a function in FROM that takes expressions."""
    arguments = tuple(ast.ValueArgument(one, place=one.place) for one in items)
    return ast.TableCall(ast.Path((name,), place=name.place), arguments, alias=alias, place=at)


def table_call_counted(
    at: Place, path: ast.Path, arguments: tuple[ast.Argument | TableKeyword, ...] | None, alias: ast.Alias | None
) -> ast.TableSelect:
    """Make a call of a table-valued function whose rows are counted."""
    return _counted(at, table_call(at, path, arguments), alias)


def _counted(at: Place, rows: ast.TableCall, alias: ast.Alias | None) -> ast.TableSelect:
    window = ast.Window(place=at)
    number = ast.Call(ast.Path((ast.Name("row_number", place=at),), place=at), over=window, place=at)
    columns = (ast.ResultColumn(ast.Star(place=at), place=at), ast.ResultColumn(number, _ordinality(at), place=at))
    core = ast.Core(columns, source=rows, place=at)
    return ast.TableSelect(ast.Select(core, place=at), alias or _called_as(at, rows.path), place=at)


def table_listing_counted(
    at: Place, name: ast.Name, items: tuple[ast.Expr, ...], alias: ast.Alias | None
) -> ast.TableSelect:
    """Make the elements of a list, or the parts of a JSON value, with their numbers."""
    if name.text.upper() in JSON_TABLES:
        return _counted(at, table_listing(at, name, items, None), alias)

    def called(function: str, *values: ast.Expr) -> ast.Call:
        return ast.Call(ast.Path((ast.Name(function, place=at),), place=at), values, place=at)

    whole = ast.Name("dctv:list", place=at)
    column = ast.Column(ast.Path((whole,), place=at), place=at)
    listed = items[0] if name.text.lower() == "unnest" and len(items) == 1 else called(name.text.lower(), *items)
    inner = ast.Core((ast.ResultColumn(listed, whole, place=at),), place=at)
    one = ast.Number("1", place=at)
    upto = ast.Binary("+", called("len", column), one, place=at)
    columns = (
        ast.ResultColumn(called("unnest", column), ast.Name(name.text.lower(), place=at), place=at),
        ast.ResultColumn(called("unnest", called("range", one, upto)), _ordinality(at), place=at),
    )
    core = ast.Core(columns, source=ast.TableSelect(ast.Select(inner, place=at), place=at), place=at)
    shown = alias or _called_as(at, ast.Path((name,), place=name.place))
    return ast.TableSelect(ast.Select(core, place=at), shown, place=at)


def _ordinality(at: Place) -> ast.Name:
    return ast.Name("ordinality", place=at)


def _called_as(at: Place, path: ast.Path) -> ast.Alias:
    return ast.Alias(path.parts[-1], place=at)


def called_table(at: Place, name: ast.Name, table: ast.Table) -> ast.Table:
    """Make a table whose name comes first."""
    given: ast.Alias | None = getattr(table, "alias", None)
    if not hasattr(table, "alias") or isinstance(table, ast.TableSample) or given is not None:
        raise ParseError(f"`{name.text}` cannot be a name here: this already has one, or cannot have one", at)
    return cast("ast.Table", replace(cast("ast.TableName", table), alias=ast.Alias(name, place=name.place), place=at))


def table_select(at: Place, select: ast.Select, alias: ast.Alias | None) -> ast.TableSelect:
    """Make a table from a subquery."""
    return ast.TableSelect(select, alias, place=at)


def table_sample(at: Place, table: ast.Table, sample: ast.Sample) -> ast.TableSample:
    """Make some rows of a table."""
    return ast.TableSample(table, sample, place=at)


def table_lateral(at: Place, select: ast.Select, alias: ast.Alias | None) -> ast.TableSelect:
    """Make a table from a subquery that reads columns of the tables before it."""
    return ast.TableSelect(select, alias, lateral=True, place=at)


def keyword_argument(at: Place, name: ast.Name, argument: ast.Argument) -> TableKeyword:
    """Make a named argument of a table-valued function."""
    return TableKeyword(name, argument, place=at)


def value_argument(at: Place, expr: ast.Expr) -> ast.ValueArgument:
    """Make an argument that is a value."""
    return ast.ValueArgument(expr, place=at)


def list_argument(at: Place, *items: ast.Argument) -> ast.ListArgument:
    """Make a list."""
    return ast.ListArgument(items, place=at)


def empty_list(at: Place, _brackets: Raw) -> ast.ListArgument:
    """Make a list of nothing."""
    return ast.ListArgument((), place=at)


def dict_argument(at: Place, *items: tuple[ast.Name, ast.Argument]) -> ast.DictArgument:
    """Make a dict."""
    return ast.DictArgument(items, place=at)


def table_argument(at: Place, path: ast.Path) -> ast.TableArgument:
    """Make an argument that names a table."""
    return ast.TableArgument(path, place=at)


def nested_call(
    at: Place, path: ast.Path, arguments: tuple[ast.Argument | TableKeyword, ...] | None
) -> ast.CallArgument:
    """Make an argument that calls a table-valued function."""
    return ast.CallArgument(table_call(at, path, arguments), place=at)


def select_argument(at: Place, select: ast.Select) -> ast.SelectArgument:
    """Make an argument that is a subquery."""
    return ast.SelectArgument(select, place=at)


FORMS: dict[str, Callable[..., object]] = {
    "comma_join": comma_join,
    "join": join,
    "table_values": table_values,
    "span_join": span_join,
    "span_broadcast": span_broadcast,
    "no_condition": no_condition,
    "on_condition": on_condition,
    "using_condition": using_condition,
    "nearest": nearest,
    "alias": alias,
    "table_name": table_name,
    "table_call": table_call,
    "table_file": table_file,
    "table_of_file": table_of_file,
    "table_select": table_select,
    "table_joined": table_joined,
    "table_listing": table_listing,
    "called_table": called_table,
    "table_call_counted": table_call_counted,
    "table_listing_counted": table_listing_counted,
    "table_sample": table_sample,
    "table_lateral": table_lateral,
    "keyword_argument": keyword_argument,
    "value_argument": value_argument,
    "list_argument": list_argument,
    "empty_list": empty_list,
    "dict_argument": dict_argument,
    "table_argument": table_argument,
    "nested_call": nested_call,
    "select_argument": select_argument,
}
