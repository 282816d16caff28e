"""Operators and casts over the columns of `edges`."""

from __future__ import annotations

from dctv.contracts.engine import ZERO_DIVISION
from dctv.plan.build import call, case, number
from dctv.plan.expressions import (
    COMPARISONS,
    FALSE,
    NULL,
    TRUE,
    And,
    Between,
    Binary,
    Case,
    Cast,
    Expression,
    InList,
    IsNull,
    Like,
    Number,
    Or,
    StartOf,
    Text,
    TraceStarts,
    Unary,
)
from tests.engines.edges import ONE, TWO, B, C, D, F, H, J, K, M, N, P, R, S, T, U, V, Y

ZERO = Number("0")
SEVEN, BIG = Unary("-", Number("7")), Number("9007199254740993")
PAIRS = [(K, J), (N, K), (N, M), (D, F), (K, D), (H, K), (U, U), (K, TWO), (D, Number("25e-1")), (K, BIG)]

OPERATORS: dict[str, list[Expression]] = {
    **{sign: [Binary(sign, one, two) for one, two in PAIRS] for sign in ("+", "-", "*", "/", "%")},
    "//": [Binary("//", one, two) for one, two in PAIRS if one not in (D, H, U) and two != D],
    **{
        sign: [Binary(sign, one, two) for one, two in [*PAIRS, (S, R), (B, C), (Y, Y), (P, K), (P, D)]]
        for sign in COMPARISONS
    },
    "<=> NULL": [Binary("<=>", S, NULL), Binary("<!=>", NULL, K)],
    "||": [Binary("||", S, R), Binary("||", S, K), Binary("||", S, B), call("coalesce", Binary("||", S, NULL), R)],
    "& and |": [Binary(sign, one, two) for sign in "&|" for one, two in [(K, J), (N, M), (K, N), (K, Number("255"))]],
    "<<": [Binary("<<", case((Between(K, ZERO, Number("9")), K)), Number("40"))],
    ">>": [Binary(">>", K, Number("3")), Binary(">>", N, Number("3")), Binary(">>", K, N)],
    "-x": [Unary("-", one) for one in (K, N, D, H, P, SEVEN)],
    "~": [Unary("~", K), Unary("~", N)],
    "NOT": [Unary("NOT", B), Unary("NOT", IsNull(S))],
    "AND, OR": [And((B, C)), Or((B, C)), And((B, Binary("<", K, J), NULL)), Or((TRUE, B))],
    "IS NULL": [IsNull(one) for one in (K, S, D, B, Y)],
    "BETWEEN": [Between(K, SEVEN, J), Between(S, Text("A"), R), Between(D, ZERO, F)],
    "IN": [InList(K, (ONE, J)), InList(S, (Text("a"), R)), InList(K, (ONE, NULL)), InList(D, (ONE, Number("1e-1")))],
    "LIKE": [
        Like(word, S, Text(like))
        for word in ("LIKE", "ILIKE")
        for like in ("a%", "_", "%\\%", "%\\y%", "A%", "%'%", "")
    ],
    "LIKE a column": [
        Like("LIKE", R, S),
        Like("LIKE", S, Text("%!%%"), Text("!")),
        Like("LIKE", S, Text("%\\%%"), Text("\\")),
    ],
    "CASE": [
        case((B, K), default=J),
        case((B, K), (C, D), default=ONE),
        case((B, NULL), (C, N), default=H),
        case((B, S), default=NULL),
        Case(((ONE, S), (J, R)), Text("none"), K),
        Case(((Text("a"), ONE), (NULL, TWO)), None, S),
        case((B, B), default=ONE),
    ],
    "starts of traces": [
        StartOf(S, TraceStarts({"a": 1_700_000_000_000_000_000, "'": -7})),
        call("coalesce", StartOf(S, TraceStarts({})), ONE),
    ],
    "divisions that warn": [
        case(
            (
                case(
                    (Binary("=", two, ZERO), IsNull(call(ZERO_DIVISION, Cast(two, "DOUBLE")))),
                    default=FALSE,
                ),
                NULL,
            ),
            default=made,
        )
        for two, made in [(J, Binary("//", K, J)), (F, call("trunc", Binary("//", D, F))), (J, Binary("/", K, J))]
    ],
    "literals": [
        case((IsNull(K), one), (B, one))
        for one in (
            Text("\\"),
            Text("'\"`\n\t\0\\n%"),
            Text("añ😀"),
            number(-(2**63)),
            number(2**64),
            number(10**37),
            Number("1e-7"),
        )
    ],
}

_NUMBERS = "12 12.5 2.5 -2.5 +5 -0 0012 1e 5e 1e400 -- 0x 1,000 12abc . 300 -129 0.1 1.5e3 .5 5. 1e-400 ٣"
_LARGE = "9223372036854775807 9223372036854775808 99999999999999999999"
_WORDS = "abc true T f no Y on off 1 0 2 nan inf -Infinity +inf"
TEXTS = [*f"{_NUMBERS} {_LARGE} {_WORDS}".split(), "", " 12 ", "\t7\n", "1 2", " true ", " 1.5 "]
ODD = ["12.5", "2.5", "-2.5", "1.5e3", ".5", "5.", "0.1", "1e3", "1_000", "0x1f", "0b11", "1e400", "1e-400", " 1.5 "]
"""What only DuckDB takes for integers."""
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")
CASTS: dict[str, list[Expression]] = {
    **{f"{name} of numbers": [Cast(one, name, lenient=True) for one in (K, N, T, U, V, H, P, B)] for name in INTEGERS},
    **{f"{name} of doubles": [Cast(D, name, lenient=True)] for name in INTEGERS if name not in ("UBIGINT", "HUGEINT")},
    "DOUBLE": [Cast(one, "DOUBLE") for one in (K, N, U, P, B, D)],
    "VARCHAR": [Cast(one, "VARCHAR") for one in (K, N, T, U, V, H, P, B, S, Y)],
    "BOOLEAN": [Cast(one, "BOOLEAN") for one in (K, B)],
    "DECIMAL": [Cast(one, "DECIMAL(38,0)") for one in (K, N, H)],
    "strictly": [Cast(D, "BIGINT"), Cast(P, "INTEGER"), Cast(K, "SMALLINT"), Cast(K, "UINTEGER"), Cast(H, "BIGINT")],
    "literals": [
        case((IsNull(K), Cast(one, name)), (B, Cast(one, name)))
        for one, name in [
            (Text("-12"), "BIGINT"),
            (ONE, "TINYINT"),
            (Text("2024-02-29"), "DATE"),
            (Text("2024-02-29 01:02:03.5"), "TIMESTAMP"),
            (Number("25e-1"), "INTEGER"),
            (Text("inf"), "DOUBLE"),
        ]
    ]
    + [call("coalesce", Cast(NULL, "VARCHAR"), S), call("coalesce", Cast(NULL, "HUGEINT"), K)],
}
