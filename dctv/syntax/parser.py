"""Run the LALR(1) table over tokens, with values made by the caller for each production."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax.keywords import (
    AFTER_NAMES,
    BEFORE,
    ENDING,
    INTERVAL_UNITS,
    NEGATABLE,
    OF_EXPRESSIONS,
    PHRASES,
    RESERVED,
    TYPE_WORDS,
    WORDED,
)
from dctv.syntax.lambdas import has_parameters, is_within, opens_body
from dctv.syntax.lexer import BROKEN, COMMENT, Raw, scan
from dctv.syntax.table import ParseTable, load_table

END = "$END"
MAX_DEPTH = 250
"""The maximum depth of the values made of a text, so that recursion over them is safe."""

_NUMBER = pattern(r"'\s*[+-]?[0-9]*\.?[0-9]*\s*'")
_NAMES = frozenset({"NAME", "BACKTICKED", "DOUBLE_QUOTED"})
_SELECTING = frozenset({"SELECT", "FROM", "WITH", "VALUES", "TABLE", "PIVOT", "UNPIVOT"})
_TABLES = frozenset({"NAME", "BACKTICKED", "DOUBLE_QUOTED", "STRING", "("})
_CLOSING = frozenset({END, ")", ";", ","})
Make = Callable[[str, list[object], int, int], object]
"""From the name of a form, its parts, and the range of its text, to its value."""


class Unexpected(Exception):
    """A token that the grammar does not allow in its place."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


class TooDeep(Exception):
    """A form that nests deeper than MAX_DEPTH."""

    def __init__(self, start: int, stop: int) -> None:
        super().__init__(start, stop)
        self.start = start
        self.stop = stop


@lru_cache(maxsize=1)
def default_table() -> ParseTable:
    """Return the table of the dialect."""
    return load_table()


@record(frozen=False)
class _Stacks:
    states: list[int]
    values: list[object]
    starts: list[int]
    stops: list[int]
    depths: list[int]


class Parser:
    """A run of the parse table over one text.

    Args:
        text: the text to parse.
        start: the start symbol of the grammar.
        make: called for every form, from the inside out and from left to right.
    """

    def __init__(self, text: str, start: str, make: Make, table: ParseTable | None = None) -> None:
        self.table: ParseTable = default_table() if table is None else table
        self.make = make
        self.text = text
        self.tokens: list[Raw] = [t for t in scan(self.table, text) if t.kind != COMMENT]
        self.tokens.append(Raw(END, "", len(text), len(text)))
        self._first, self._last = self.table.starts[start]
        self.restart()

    def restart(self) -> None:
        """Forget all tokens."""
        self.stacks: _Stacks = _Stacks([self._first], [], [], [], [])
        self._stop = 0

    def run(self) -> object:
        """Parse the whole text and return the value of the start symbol.

        Raises:
            Unexpected: a token does not fit.
            TooDeep: the text nests too deeply.
        """
        for index in range(len(self.tokens)):
            self.advance(index)
        return self.stacks.values[-1]

    def advance(self, index: int) -> None:
        """Reduce the productions that the token at an index completes, then shift it."""
        token = self.tokens[index]
        terminal = self.terminal(index)
        states = self.stacks.states
        while True:
            action = self._renamed(terminal)
            if states[-1] == self._last and token.kind == END:
                return
            if action is None:
                raise Unexpected(index)
            if action >= 0:
                break
            self._reduce(-1 - action, token.start)
        states.append(action)
        self.stacks.values.append(token)
        self.stacks.starts.append(token.start)
        self.stacks.stops.append(token.stop)
        self.stacks.depths.append(0)
        self._stop = token.stop

    def _renamed(self, terminal: int) -> int | None:
        """Reduce by the productions that only rename the last value, and return the action after these.

        Three of four reductions are such, through all levels of operators, so the table keeps where they end.
        """
        table, states = self.table, self.stacks.states
        if len(states) == 1:
            return table.row(states[0]).get(terminal)
        key = (states[-2], states[-1], terminal)
        known = table.renamed.get(key)
        if known is None:
            known = table.renamed[key] = table.renaming(*key)
        states[-1], action = known
        return action

    def _reduce(self, number: int, next_start: int) -> None:
        rule = self.table.rule(number)
        stacks, size = self.stacks, rule.size
        states = stacks.states
        if size:
            parts = stacks.values[-size:]
            start, stop, depth = stacks.starts[-size], stacks.stops[-1], max(stacks.depths[-size:])
            del (
                states[-size:],
                stacks.values[-size:],
                stacks.starts[-size:],
                stacks.stops[-size:],
                stacks.depths[-size:],
            )
        else:
            parts, start, stop, depth = [], next_start, self._stop, 0
        children = self._children(rule.keep, parts)
        if not rule.name:
            value: object = children
        elif rule.single and len(children) == 1:
            value = children[0]
        else:
            depth += 1
            if depth > MAX_DEPTH:
                raise TooDeep(start, stop)
            value = self.make(rule.name, children, start, stop)
        states.append(self.table.goto(states[-1])[rule.origin])
        stacks.values.append(value)
        stacks.starts.append(start)
        stacks.stops.append(stop)
        stacks.depths.append(depth)

    @staticmethod
    def _children(keep: tuple[tuple[int, bool], ...], parts: list[object]) -> list[object]:
        """Return the kept parts; the list of a leading helper is reused, so that long lists stay linear."""
        children: list[object] = []
        for index, inline in keep:
            part = parts[index]
            if not inline:
                children.append(part)
            elif isinstance(part, list):
                if children:
                    children.extend(part)
                else:
                    children = part
        return children

    def terminal(self, index: int) -> int:
        """Return the terminal that a token is here, -1 for one that is allowed nowhere."""
        token = self.tokens[index]
        number = self.table.number
        if token.kind != "NAME":
            return -1 if token.kind == BROKEN else number[self._mark(index, token.kind)]
        word = token.text.upper()
        if word in INTERVAL_UNITS and self._counts(index):
            return number["INTERVAL_UNIT"]
        marked = self._marked(index, word)
        if marked is not None:
            return number[marked]
        return number[self._word(index, word) if word in self.table.keywords else "NAME"]

    def _mark(self, index: int, kind: str) -> str:
        """Return the terminal of a token that is not a word."""
        if kind == "->" and opens_body(self.tokens, index) and self.accepts("LAMBDA_ARROW"):
            return "LAMBDA_ARROW"
        if kind == "%" and self.accepts("PERCENT") and not (self.accepts("%") and self._divides(index)):
            return "PERCENT"
        return "ARRAY_OF" if kind == "[" and self._is_length(index) and self.accepts("ARRAY_OF") else kind

    def _marked(self, index: int, word: str) -> str | None:
        """Return the terminal that a word is only before certain others, None for other words."""
        if word in OF_EXPRESSIONS and self._is_listing(index):
            return "LISTING"
        if word in TYPE_WORDS and self.tokens[index + 1].kind == "STRING" and self.accepts("TYPE_WORD"):
            return "TYPE_WORD"
        if word in ("FROM", "FOR") and is_within(self.tokens, index, WORDED) and self.accepts(f"CALL_{word}"):
            return f"CALL_{word}"
        if word in PHRASES and self._follows(index, *PHRASES[word][0]) and self.accepts(PHRASES[word][1]):
            return PHRASES[word][1]
        if word == "EXCEPT" and self._leaves_out(index) and self.accepts("STAR_EXCEPT"):
            return "STAR_EXCEPT"
        return "BY_NAME" if word == "NAME" and self.accepts("BY_NAME") else None

    def _leaves_out(self, index: int) -> bool:
        """Whether EXCEPT behind a star has names after it rather than a select."""
        following = [one for one in self.tokens[index + 1 : index + 3] if one.kind != "("]
        if self.tokens[index - 1].kind != "*" or not following:
            return False
        return following[0].kind in (*_NAMES, "STRING") and following[0].text.upper() not in _SELECTING

    def _follows(self, index: int, *words: str) -> bool:
        """Whether the next tokens are these words."""
        return [one.text.upper() for one in self.tokens[index + 1 : index + 1 + len(words)]] == [*words]

    def _word(self, index: int, word: str) -> str:
        """Return the keyword, or NAME where a word of the grammar is used as a name."""
        before = self.tokens[index - 1].kind if index else ""
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else self.tokens[index]
        kind = after.text.upper() if after.kind == "NAME" else after.kind
        if before == "." or kind in ("=>", ":=") or kind not in BEFORE.get(word, {kind}):
            return "NAME"
        if word in ("NOT", "USING"):
            return self._by_next(word, kind)
        if word == "IN" and index and self.tokens[index - 1].text.upper() == "IN":
            return "NAME"
        # ARRAY may follow the type of its elements, too.
        if word in RESERVED or (word == "ARRAY" and self.accepts("ARRAY") and not self.accepts("CASE")):
            return word
        last = word not in ENDING and (kind in AFTER_NAMES or not self._begins(index, word))
        fits = self._leads(word, kind) if word == "MAP" else self.accepts(word)
        if fits and not (last and self.accepts("NAME")):
            return word
        return "NAME" if self.accepts("NAME") else word

    def _begins(self, index: int, word: str) -> bool:
        """Whether the tokens after a word make it a keyword."""
        after = self.tokens[index + 1]
        if word in ("PIVOT", "UNPIVOT", "TABLE"):
            return after.kind in _TABLES
        if word == "COLLATE":
            return after.kind in _NAMES and after.text.upper() not in RESERVED
        if word == "ARRAY":
            return after.kind in ("[", "BRACKETS", "(")
        return word != "LAMBDA" or has_parameters(self.tokens, index)

    def _is_listing(self, index: int) -> bool:
        """Whether a word is a function in FROM that takes expressions."""
        alone = not index or self.tokens[index - 1].kind != "."
        return alone and self.tokens[index + 1].kind == "(" and self.accepts("LISTING")

    def _is_length(self, index: int) -> bool:
        """Whether a bracket holds a whole number alone, as behind the type of an array's elements."""
        inside = self.tokens[index + 1 : index + 3]
        return [one.kind for one in inside] == ["NUMBER", "]"] and inside[0].text.isdecimal()

    def _divides(self, index: int) -> bool:
        """Whether the text after a token may be a divisor."""
        after = self.tokens[index + 1]
        return after.kind not in _CLOSING and after.text.upper() != "OFFSET"

    def _counts(self, index: int) -> bool:
        """Whether a word is the unit of an interval: in `INTERVAL '1 day' days` it is an alias."""
        before = self.tokens[index - 1]
        number = before.kind != "STRING" or _NUMBER.fullmatch(before.text)
        return bool(number) and self.accepts("INTERVAL_UNIT")

    def _by_next(self, word: str, following: str) -> str:
        """Return the terminal of NOT or USING, which depends on the next word."""
        if word == "USING":
            return "USING_SAMPLE" if following == "SAMPLE" else word
        if following in ("BETWEEN", "NULL") and self.accepts(f"NOT_{following}"):
            return f"NOT_{following}"
        return "NOT_LIKE" if following in NEGATABLE and self.accepts("NOT_LIKE") else "NOT"

    def _leads(self, word: str, following: str) -> bool:
        """Whether a keyword may come next, with a terminal behind it: `MAP(` begins a type, or a call of a function."""
        number = self.table.number
        state = self.reached(number[word])
        return state is not None and number[following] in self.table.row(self.table.row(state)[number[word]])

    def accepts(self, name: str) -> bool:
        """Return whether a terminal is valid next."""
        return self.reached(self.table.number[name]) is not None

    def reached(self, terminal: int) -> int | None:
        """Return the state in which a terminal would be taken now, or None where it would not be."""
        table, states = self.table, self.stacks.states
        depth = len(states)
        on_top: list[int] = []
        while True:
            state = on_top[-1] if on_top else states[depth - 1]
            action = table.row(state).get(terminal)
            if action is None:
                return None
            if action >= 0:
                return state
            rule = table.rule(-1 - action)
            for _ in range(rule.size):
                if on_top:
                    on_top.pop()
                else:
                    depth -= 1
            below = on_top[-1] if on_top else states[depth - 1]
            on_top.append(table.goto(below)[rule.origin])
            if on_top[-1] == self._last and depth == 1 and len(on_top) == 1:
                return on_top[-1] if table.terminals[terminal] == END else None
