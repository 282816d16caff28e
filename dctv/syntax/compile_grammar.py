"""Compile the text of the grammar into plain lists with lark; needed only where no table exists yet."""

from __future__ import annotations

from typing import Any

from lark import Lark
from lark.grammar import Rule, Terminal
from lark.lexer import PatternRE, PatternStr
from lark.parsers.lalr_analysis import Shift


def compile_grammar(grammar: str, starts: tuple[str, ...]) -> dict[str, Any]:
    """Return the LALR(1) table of a grammar as JSON values; see `dctv.syntax.table.ParseTable`."""
    lark = load_grammar(grammar, starts)
    table: Any = lark.parser.parser.parser.parse_table
    nonterminals = sorted({rule.origin.name for rule in lark.rules})
    literals = {t.name: t.pattern.value for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    patterns = [(t.name, t.pattern.value) for t in lark.terminals if isinstance(t.pattern, PatternRE)]
    terminals = sorted({symbol for row in table.states.values() for symbol in row} - set(nonterminals))
    number = {name: i for i, name in enumerate(terminals)}
    origin = {name: i for i, name in enumerate(nonterminals)}
    rule_number: dict[Rule, int] = {rule: i for i, rule in enumerate(lark.rules)}
    rows, gotos = _Shared(), _Shared()
    row_of, goto_of = [], []
    states = _in_order(table.states, [table.start_states[start] for start in starts])
    for state in states:
        row, goto = [], []
        for symbol, (action, target) in sorted(table.states[state].items()):
            if symbol in origin:
                goto += [origin[symbol], states[target]]
            else:
                row += [number[symbol], states[target] if action is Shift else -1 - rule_number[target]]
        row_of.append(rows.add(tuple(row)))
        goto_of.append(gotos.add(tuple(goto)))
    return {
        "terminals": [literals.get(name, name) for name in terminals],
        "keywords": sorted(value for value in literals.values() if value.isalpha() or "_" in value),
        "patterns": patterns,
        "ignored": sorted(lark.ignore_tokens),
        "nonterminals": nonterminals,
        "starts": {start: (states[table.start_states[start]], states[table.end_states[start]]) for start in starts},
        "rows": rows.items,
        "gotos": gotos.items,
        "row_of": row_of,
        "goto_of": goto_of,
        "rules": [_rule(rule, origin) for rule in lark.rules],
    }


def load_grammar(grammar: str, starts: tuple[str, ...]) -> Lark:
    """Return lark's own parser of the grammar."""
    return Lark(grammar, parser="lalr", start=list(starts), maybe_placeholders=False)


def _in_order(states: dict[int, Any], starts: list[int]) -> dict[int, int]:
    """Return a number for each state, in the order in which a walk from the starts comes to it.

    lark's numbers depend on the order of sets, and so differ from run to run.
    """
    found: dict[int, int] = {}
    left = list(reversed(starts))
    while left:
        state = left.pop()
        if state not in found:
            found[state] = len(found)
            left += [target for _, (action, target) in sorted(states[state].items(), reverse=True) if action is Shift]
    return found


class _Shared:
    """A list that holds equal items once."""

    def __init__(self) -> None:
        self.items: list[tuple[int, ...]] = []
        self._index: dict[tuple[int, ...], int] = {}

    def add(self, item: tuple[int, ...]) -> int:
        """Return the index of an item, after adding it where it is new."""
        if item not in self._index:
            self._index[item] = len(self.items)
            self.items.append(item)
        return self._index[item]


def _rule(rule: Rule, origin: dict[str, int]) -> list[Any]:
    """Return origin, size, name, kept children, and whether a single child replaces the whole."""
    keep = [
        (i, int(not symbol.is_term and symbol.name.startswith("_")))
        for i, symbol in enumerate(rule.expansion)
        if not (isinstance(symbol, Terminal) and symbol.filter_out and not rule.options.keep_all_tokens)
    ]
    name = rule.alias or rule.origin.name
    helper = name.startswith("_")
    single = rule.options.expand1 and not rule.alias
    return [origin[rule.origin.name], len(rule.expansion), "" if helper else name, keep, int(single)]
