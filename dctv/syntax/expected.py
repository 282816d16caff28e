"""Find the valid continuations at a place in a text: as keywords, as kinds of names, and in plain words."""

from __future__ import annotations

from dctv.syntax.parser import END, Parser

_PHRASES = {
    "statement": "a statement",
    "result_column": "a result column",
    "type_name": "a type",
    "argument": "an argument",
    "dict_item": "a key",
    "keyword_argument": "a named argument",
    "table": "a table",
    "expr": "an expression",
    "range": "an expression",
    "bit_or": "an expression",
    "product": "an expression",
    "key": "an expression",
    "prefixed": "an expression",
    "arithmetic": "a value",
    "term": "a value",
    "factor": "a value",
    "unit": "a unit",
    "label": "an alias",
    "alias": "an alias",
    "common_table": "a name",
    "select": "`SELECT`",
    "path": "a name",
    "name": "a name",
    "argument_name": "a name",
}
"""Descriptions of nonterminals: the first of these that may begin in a state is what is expected."""

_NAMES = frozenset({"NAME", "BACKTICKED", "DOUBLE_QUOTED"})
_VALUES = frozenset({*_NAMES, "NUMBER", "STRING", "BIND", "(", "-", "+", "~", "NOT", "CASE", "CAST", "TRY_CAST"}) | {
    "EXISTS", "NULL", "TRUE", "FALSE", "INTERVAL", "[", "{", "BRACKETS", "MAP", "ESCAPED", "DOLLARS",
    "HEXED", "ARRAY", "TYPE_WORD",
    "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_NS", "EXTRACT",
    "TIMESTAMP_MS", "TIMESTAMP_S", "UUID", "BLOB", "JSON", "ANY",
}  # fmt: skip
_BEGINNINGS = {
    "a type": frozenset({"NAME", "ENUM", "MAP", "ROW", "STRUCT", "UNION"}),
    "a statement": _VALUES | {"SELECT", "WITH", "VALUES", "CREATE", "DROP", "MOUNT", "SET", "EXPLAIN", "DESCRIBE"}
    | {"SHOW", "ASSERT", "ATTACH", "EXPECT", "COPY", ";", "FROM", "SUMMARIZE", "PIVOT", "UNPIVOT", "TABLE"},
    "a result column": _VALUES | {"*"},
    "an expression": _VALUES,
    "a value": _VALUES,
    "an argument": _VALUES | {"[", "{", "BRACKETS"},
    "a table": _NAMES | {"(", "STRING", "LISTING", "LATERAL", "VALUES"},
    "an alias": _NAMES | {"AS"},
    "`SELECT`": frozenset({"SELECT", "WITH", "VALUES", "(", "FROM", "PIVOT", "UNPIVOT", "TABLE"}),
    "a key": _NAMES | {"STRING"},
}  # fmt: skip
_OPERATORS = frozenset({
    "**", "*", "/", "//", "%", "+", "-", "||", "<<", ">>", "&", "|", "=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>",
    "<!=>", "AND", "OR", "BETWEEN", "IN", "IS", "LIKE", "ILIKE", "GLOB", "REGEXP", "SIMILAR", "::", "[", "BRACKETS",
    "->", "->>", "^", "~", "!~", "~*", "!~*", "~~", "!~~", "~~*", "!~~*", "~~~", "^@", "&&", "@>", "<@", "COLLATE",
    "NOT_BETWEEN", "NOT_LIKE", "AT_TIME", "ISNULL", "NOTNULL", "NOT_NULL",
})  # fmt: skip
_JOINS = frozenset({
    "TABLESAMPLE", "PIVOT", "UNPIVOT", "JOIN", "POSITIONAL",
    "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "ASOF", "SEMI", "ANTI", "SPAN",
})  # fmt: skip
_CLAUSES = frozenset({
    "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT",
    "INTERSECT", "USING_SAMPLE",
})  # fmt: skip
_GROUPS = ((_JOINS, "CROSS", "a join"), (_CLAUSES, "ORDER", "another clause"), (_OPERATORS, "*", "an operator"))
_MARKED = frozenset(
    {"ARRAY_OF", "CALL_FOR", "CALL_FROM", "LAMBDA_ARROW", "PERCENT", "STAR_EXCEPT", "TYPE_WORD", "WITHIN_GROUP"}
)
"""Words and marks that are distinguished from others by their context."""
_LONGEST = 8
_RARE = (
    ("an alias", {":"}), ("=>", {":="}), (",", {":", "PLACING"}), ("MATERIALIZED", {"MATERIALIZED", "NOT"}),
    ("MACRO", {"FUNCTION"}), ("VIEW", {"SECURE", "RECURSIVE"}), ("NEAREST", {"APPROX", "EXACT"}),
)  # fmt: skip
"""Continuations that are omitted where a more usual one is valid."""


def terminals(parser: Parser) -> dict[str, frozenset[str]]:
    """Return the terminals that may come next, each with the nonterminals that it may begin."""
    table = parser.table
    found = {}
    for number, name in enumerate(table.terminals):
        state = parser.reached(number)
        if state is not None:
            found[name] = frozenset(table.nonterminals[n] for n in table.goto(state))
    return found


def keywords(parser: Parser) -> list[str]:
    """Return the keywords that may come next."""
    found = terminals(parser)
    also = {"NOT"} if found.keys() & {"NOT_BETWEEN", "NOT_LIKE", "NOT_NULL"} else set()
    also |= {"USING"} if "USING_SAMPLE" in found else set()
    return sorted((found.keys() & parser.table.keywords) | also)


def expectation(parser: Parser) -> str:
    """Describe the valid continuations in words, by meaning rather than by their first tokens."""
    found = terminals(parser)
    phrases = {name: phrase for name, begun in found.items() if (phrase := _phrase(name, begun)) is not None}
    wordings = list(dict.fromkeys(phrases.values()))
    rest = found.keys() - phrases.keys()
    if "an expression" in wordings:
        rest -= _BEGINNINGS["`SELECT`"]
        rest -= {"*"} if "DISTINCT" in found else {"*", "ALL"}
    if {")", "EXCLUDE"} <= rest:
        # A star among the arguments of a call is mostly all of them.
        wordings, rest = [], {")"}
    if wordings == ["a name"]:
        rest -= {"STRING"}
    if "a statement" in wordings:
        rest -= {END}
    rest, groups = _grouped(rest)
    if len(rest) > 1:
        rest -= {"INTERVAL_UNIT"}
    rest -= _MARKED if len(rest) > 1 else set()
    for usual, rare in _RARE:
        if usual in rest.union(wordings) and rest - rare:
            rest -= rare
    if "." in rest and (wordings or groups or rest - {".", "("}):
        rest -= {".", "("}
    words = [_word(name) for name in sorted(rest, key=lambda n: (n.isalpha(), n))]
    everything = list(dict.fromkeys([*wordings, *words, *groups]))
    if len(everything) > _LONGEST:
        return ", ".join([*everything[:_LONGEST], "..."])
    return " or ".join(filter(None, [", ".join(everything[:-1]), everything[-1]]))


def _phrase(terminal: str, begun: frozenset[str]) -> str | None:
    """Return the phrase that a terminal begins, or None if it is a phrase by itself."""
    phrase = next((text for symbol, text in _PHRASES.items() if symbol in begun), None)
    return phrase if phrase is not None and terminal in _BEGINNINGS.get(phrase, _NAMES) else None


def _grouped(rest: set[str]) -> tuple[set[str], list[str]]:
    """Return the terminals that belong to no group, and the groups of the others."""
    groups = []
    for members, typical, phrase in _GROUPS:
        if typical in rest:
            rest = rest - members
            groups.append(phrase)
    if END in rest:
        rest = rest - {END, ";"}
        groups.append("the end of the statement")
    return rest, groups


def _word(terminal: str) -> str:
    plain = {
        "NUMBER": "a number",
        "STRING": "a string",
        "NAME": "a name",
        "BACKTICKED": "a name",
        "BIND": "a parameter",
    }
    plain["ESCAPED"] = plain["DOLLARS"] = plain["HEXED"] = "a string"
    plain["INTERVAL_UNIT"] = "a unit such as `DAY`"
    plain |= {
        "BRACKETS": "`[]`",
        "NOT_LIKE": "`NOT`",
        "NOT_BETWEEN": "`NOT`",
        "NOT_NULL": "`NOT`",
        "BY_NAME": "`NAME`",
        "DOUBLE_QUOTED": "a string",
    }
    return plain.get(terminal, f"`{terminal}`")
