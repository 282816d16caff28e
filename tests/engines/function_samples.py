"""Calls of each vetted function, over the columns of `edges`."""

from __future__ import annotations

from dctv.plan.build import by_names, call, case, descending
from dctv.plan.expressions import (
    FALSE,
    Binary,
    Call,
    Cast,
    Column,
    Expression,
    Frame,
    FrameEnd,
    IsNull,
    Lambda,
    Number,
    Ordered,
    Star,
    Text,
    Unary,
    Window,
)
from dctv.record import replace
from tests.engines.edges import ONE, TWO, B, C, D, F, H, J, K, M, N, P, R, S, T, U, Y

COMPARABLE = [(K, J), (N, K), (D, F), (S, R), (B, C), (Y, Y), (K, D), (H, K), (U, K), (P, K), (T, N)]


def small(value: Expression) -> Expression:
    """Bring a double into the range of functions that stop with an error elsewhere."""
    return Binary("/", value, Number("3e0"))


SCALAR_SAMPLES: dict[str, list[Expression]] = {
    "abs": [call("abs", one) for one in (K, N, T, D, H, P)],
    "bit_count": [call("bit_count", K)],
    **{name: [call(name, one, two) for one, two in COMPARABLE] for name in ("coalesce", "greatest", "least")},
    "nullif": [call("nullif", one, two) for one, two in COMPARABLE if one != two],
    "contains": [call("contains", S, R)],
    "ends_with": [call("ends_with", S, R)],
    "instr": [call("instr", S, R)],
    "starts_with": [call("starts_with", S, R)],
    **{name: [call(name, S)] for name in ("lower", "upper", "trim", "ltrim", "rtrim", "md5", "sha1", "sha256")},
    "pi": [case((IsNull(K), call("pi")))],
    "replace": [call("replace", S, R, Text("+")), call("replace", S, Text("a"), R)],
    "translate": [call("translate", S, Text("a,ñ"), Text("bé"))],
    "sqrt": [call("sqrt", D), call("sqrt", K)],
    **{name: [call(name, D), call(name, K)] for name in ("atan", "cbrt", "degrees", "radians", "exp")},
    **{name: [call(name, D), call(name, N)] for name in ("cos", "cot", "sin", "tan")},
    **{name: [call(name, D), call(name, K)] for name in ("acos", "asin", "ln", "log10", "log2")},
    "atan2": [call("atan2", D, F)],
    "power": [call("power", D, F), call("power", K, TWO)],
    "ceil": [call("ceil", one) for one in (D, K, N)],
    "floor": [call("floor", one) for one in (D, K, N)],
    "round": [call("round", D), call("round", D, TWO), call("round", K), call("round", small(N), ONE)],
    "trunc": [call("trunc", D), call("trunc", K), call("trunc", Binary("/", K, Number("1e3")))],
    "sign": [call("sign", one) for one in (D, K, N)],
    "mod": [call("mod", K, J), call("mod", D, F)],
    "xor": [call("xor", K, J), call("xor", N, M)],
    "concat": [call("concat", S, K, R, B), call("concat", S, N)],
    "concat_ws": [call("concat_ws", Text("-"), S, R, K), call("concat_ws", S, R, R)],
    "error": [case((FALSE, Cast(call("error", S), "BIGINT")), default=K)],
    "hex": [call("hex", K), call("hex", S)],
    "if": [call("if", B, K, J), call("if", Binary("<", K, J), S, R), call("if", B, K, D)],
    "isfinite": [call("isfinite", D)],
    "isinf": [call("isinf", D)],
    "isnan": [call("isnan", D)],
    "left": [call("left", S, TWO)],
    "right": [call("right", S, TWO)],
    "len": [call("len", S), call("len", call("list_value", K, J))],
    "length": [call("length", S)],
    "list_contains": [
        call("list_contains", call("list_value", K, J), ONE),
        call("list_contains", call("list_value", K), J),
    ],
    "list_extract": [
        call("list_extract", call("list_value", K, J), TWO),
        call("list_extract", call("list_value", S), ONE),
    ],
    "list_value": [call("list_value", K, J), call("list_value", S, R), call("list_value", K, D)],
    "lpad": [call("lpad", S, Number("4"), Text("xy"))],
    "rpad": [call("rpad", S, Number("4"), Text("xy"))],
    "regexp_extract": [
        call("regexp_extract", S, Text(pattern), *more)
        for pattern, more in [("[0-9]+", ()), ("(.)(.)", (TWO,)), (r"(\w) ?(\w)?", (ONE,)), (r"a|\s|$", ())]
    ],
    "regexp_full_match": [call("regexp_full_match", S, Text(pattern)) for pattern in ("a", "a.*", r"-?\d+", "[^,]*")],
    "regexp_matches": [
        call("regexp_matches", S, Text(pattern))
        for pattern in (
            "a",
            "^a",
            "z$",
            ".",
            "[ñé]",
            r"\\",
            r"\d",
            r"\W",
            "^$",
            "(?:a|x).{2,}",
            "[^a]",
            r"\S b",
            "b *$",
        )
    ],
    "regexp_replace": [call("regexp_replace", S, Text("[a,]"), Text("<>"), Text("g"))],
    "repeat": [call("repeat", S, TWO), call("repeat", S, case((Binary("<", N, Number("9")), N)))],
    "split_part": [call("split_part", S, Text(","), TWO), call("split_part", S, Text("a"), ONE)],
    "strlen": [call("strlen", S)],
    "substring": [call("substring", S, TWO), call("substring", S, TWO, TWO)],
}

FINITE = case((call("isfinite", D), D))


def aggregated(name: str, *arguments: Expression) -> list[Expression]:
    plain = call(name, *arguments)
    return [plain, replace(plain, filter=Binary(">", K, Number("0")))]


AGGREGATE_SAMPLES: dict[str, list[Expression]] = {
    **{name: [*aggregated(name, K), *aggregated(name, N)] for name in ("bit_and", "bit_or", "bit_xor")},
    **{name: [*aggregated(name, B), *aggregated(name, Binary("<", K, J))] for name in ("bool_and", "bool_or")},
    **{
        name: [one for kind in (K, N, FINITE, S, B, Y, H, U, P) for one in aggregated(name, kind)]
        for name in ("max", "min")
    },
    **{name: [*aggregated(name, small(N)), *aggregated(name, M)] for name in ("stddev_pop", "stddev_samp")},
    **{name: [*aggregated(name, small(N)), *aggregated(name, M)] for name in ("var_pop", "var_samp", "median")},
    "any_value": aggregated("any_value", case((Binary(">", N, ONE), N))),
    "arg_max": [*aggregated("arg_max", S, Column("id")), *aggregated("arg_max", J, Unary("-", Column("id")))],
    "arg_max_null": aggregated("arg_max_null", S, Column("id")),
    "arg_min": aggregated("arg_min", S, Column("id")),
    "arg_min_null": [
        *aggregated("arg_min_null", S, Column("id")),
        *aggregated("arg_min_null", S, case((B, Column("id")))),
    ],
    "avg": [one for kind in (K, N, T, U) for one in aggregated("avg", kind)] + [Call("avg", (M,), distinct=True)],
    "count": [
        *(one for kind in (K, S, Star()) for one in aggregated("count", kind)),
        Call("count", (M,), distinct=True),
        Call("count"),
    ],
    "count_if": aggregated("count_if", Binary("<", K, J)),
    "first": [
        Call("first", (S,), order_by=by_names(("id",))),
        Call("first", (S,), order_by=(Ordered(J, nulls_first=True), *by_names(("id",)))),
        Call("first", (S,), order_by=(descending(J), descending(Column("id"))), filter=B),
    ],
    "last": [
        Call("last", (S,), order_by=by_names(("id",))),
        Call("last", (S,), order_by=(Ordered(J), *by_names(("id",)))),
        Call(
            "last", (S,), order_by=(Ordered(J, descending=True, nulls_first=True), descending(Column("id"))), filter=B
        ),
    ],
    "quantile_cont": aggregated("quantile_cont", M, Number("0.25")),
    "sum": [
        *(one for kind in (K, N, T, U, H, P, B) for one in aggregated("sum", kind)),
        *aggregated("sum", Binary("/", M, Number("4e0"))),
        Call("sum", (M,), distinct=True),
    ],
}

BY_ID = by_names(("id",))
WINDOW = Window(call("row_number"), (N,), BY_ID)
"""Its call gives way to others."""


def frame(start: FrameEnd, stop: FrameEnd) -> Window:
    return replace(WINDOW, frame=Frame("ROWS", start, stop))


WINDOWS = [
    WINDOW,
    frame(FrameEnd("UNBOUNDED PRECEDING"), FrameEnd("PRECEDING", ONE)),
    frame(FrameEnd("PRECEDING", TWO), FrameEnd("FOLLOWING", ONE)),
    frame(FrameEnd("CURRENT ROW"), FrameEnd("UNBOUNDED FOLLOWING")),
    replace(WINDOW, order_by=(Ordered(J, descending=True, nulls_first=True), *BY_ID)),
]
RANGE = replace(
    WINDOW,
    order_by=(Ordered(Binary("%", J, Number("9"))),),
    frame=Frame("RANGE", FrameEnd("PRECEDING", TWO), FrameEnd("FOLLOWING", TWO)),
)
WHOLE = replace(WINDOW, order_by=())


def over(window: Window, function: Call) -> Window:
    return replace(window, call=function)


def in_windows(name: str, *arguments: Expression, ignoring: bool = True) -> list[Expression]:
    made: list[Expression] = [over(window, call(name, *arguments)) for window in WINDOWS]
    if ignoring:
        made += [over(window, Call(name, arguments, nulls="IGNORE")) for window in WINDOWS]
    return made


WINDOW_SAMPLES: dict[str, list[Expression]] = {
    **{name: in_windows(name, ignoring=False) for name in ("cume_dist", "percent_rank", "row_number")},
    **{name: [over(replace(WINDOW, order_by=(Ordered(R),)), call(name))] for name in ("dense_rank", "rank")},
    "ntile": [over(WINDOW, call("ntile", Number("3")))],
    **{name: [*in_windows(name, S), *in_windows(name, K)] for name in ("first_value", "last_value")},
    **{
        name: [
            *in_windows(name, S),
            *in_windows(name, K, ONE, Number("5")),
            over(WINDOW, call(name, K, TWO)),
            over(WINDOW, call(name, S, Number("3"), R)),
            over(WINDOW, call(name, J, ONE, N)),
            over(WINDOW, call(name, D, ONE, TWO)),
        ]
        for name in ("lag", "lead")
    },
    "nth_value": in_windows("nth_value", S, TWO, ignoring=False),
    **{name: [over(one, call(name, K)) for one in (*WINDOWS, WHOLE, RANGE)] for name in ("max", "min", "sum", "avg")},
    "count": [over(one, Call("count", (what,), filter=B)) for one in (*WINDOWS, WHOLE, RANGE) for what in (S, Star())],
    "count_if": [over(one, call("count_if", B)) for one in WINDOWS],
    # Sail cannot take a row out of these again, and says so: their frames begin with the first row.
    **{name: [over(one, call(name, B)) for one in WINDOWS[:2]] for name in ("bool_and", "bool_or")},
    **{name: [over(one, call(name, K)) for one in WINDOWS[:2]] for name in ("bit_and", "bit_or", "bit_xor")},
    "first": in_windows("first", S, ignoring=False),
    "any_value": [over(one, call("any_value", S)) for one in WINDOWS],
}
LIST = call("list_value", K, J)
LIST_SAMPLES: dict[str, list[Expression]] = {
    "list_filter": [call("list_filter", LIST, Lambda(("x",), Binary(">", Column("x"), ONE)))],
    "list_transform": [call("list_transform", LIST, Lambda(("x",), Binary("/", Column("x"), TWO)))],
}
