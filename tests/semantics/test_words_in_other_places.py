"""Queries of `.test` files with some of their words replaced: whatever is wrong with them is said as dctv says it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from threading import Timer

from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import BindError, DctvError, ParseError, UnitError
from dctv.run.result import Result
from dctv.session import Session
from tests.bounds import SPAN_ENGINES, bounded, chosen
from tests.sqltest import BLOCK, ROOT

_WORD = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|[A-Za-z_]\w*|\d+(?:\.\d+)?[A-Za-z]*|::|=>|<=|>=|<>|\|\||\s+|.", re.DOTALL
)
_KEYWORDS = re.compile(
    "all|and|anti|as|asc|asof|between|broadcast|by|case|cast|cross|current|desc|distinct|else|end|event|except|exists|filter|"
    "first|following|from|full|group|having|in|inner|intersect|intersects|is|join|last|lateral|left|like|limit|natural|not|"
    "null|nulls|offset|on|or|order|outer|over|partition|partitioned|preceding|qualify|range|recursive|right|row|rows|select|"
    "semi|span|spans|then|unbounded|union|using|values|when|where|with",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(r"\b(?:COPY|MOUNT|UNMOUNT|SET|RESET)\b", re.IGNORECASE)
"""Statements that write files, read others, or change how all that follow are carried out."""
_EACH = 8
"""Changed queries for each example."""
_PATIENCE = 20.0
"""Seconds until a query that has become too large is interrupted."""


def _blocks_of(path: Path) -> Sequence[re.Match[str]]:
    """Return the blocks of a file; none if they are left out."""
    blocks = list(BLOCK.finditer(path.read_text(encoding="utf-8")))
    return [] if any(_LEFT_OUT.search(one["sql"] or "") for one in blocks) else blocks


_FILES = [
    blocks
    for blocks in map(_blocks_of, sorted((ROOT / "tests").glob("**/*.test")))
    if any(one["kind"] == "query" for one in blocks)
]


def test_most_files_take_part() -> None:
    assert len(_FILES) > 100


@bounded(120)
@given(st.integers(0, 2**32))
def test_errors_are_of_dctv_and_have_places(seed: int) -> None:
    random = Random(seed)
    blocks = random.choice(_FILES)
    last = random.choice([number for number, one in enumerate(blocks) if one["kind"] == "query"])
    words = _by_kind("\n".join(one["sql"] for one in blocks if one["kind"] == "query"))
    with Session(index=False, memory_limit="1GB", warn=False) as session:
        chosen(session, random.choice(SPAN_ENGINES))
        for block in blocks[: last + 1]:
            if block["name"] is not None:
                session.mount(str(ROOT / block["path"]), block["name"])
            elif block["kind"] == "query":
                list(session.execute(block["sql"]))
        for _ in range(_EACH):
            text = _changed(blocks[last]["sql"], words, random)
            if _LEFT_OUT.search(text) is None:
                _check(session, text)


def _check(session: Session, text: str) -> None:
    error = _error(session, text)
    if isinstance(error, BindError | ParseError | UnitError):
        assert error.place is not None, f"{text}\n{error}"


def _error(session: Session, text: str) -> DctvError | None:
    """Run a query, and return its error; the engine does not say of all values where they stand."""
    timer = Timer(_PATIENCE, session.interrupt)
    timer.start()
    try:
        for outcome in session.execute(text):
            if isinstance(outcome, Result):
                for _ in outcome.chunks():
                    pass
    except DctvError as error:
        return error
    except Exception as error:
        error.add_note(text)
        raise
    finally:
        timer.cancel()
        timer.join()
    return None


def _kind(words: Sequence[str], number: int) -> str:
    """Return the kind of a word: those of one kind may stand in each other's place."""
    word = words[number]
    if word[0] == "'":
        return "text"
    if word[0].isdigit():
        return "number"
    if _KEYWORDS.fullmatch(word):
        return "keyword"
    if word[0].isalpha() or word[0] in '_"`':
        return "function" if words[number + 1 : number + 2] == ["("] else "name"
    return "space" if word.isspace() else "sign"


def _by_kind(text: str) -> Mapping[str, Sequence[str]]:
    words = _WORD.findall(text)
    kinds: dict[str, list[str]] = defaultdict(list)
    for number, word in enumerate(words):
        kinds[_kind(words, number)].append(word)
    return kinds


def _changed(text: str, known: Mapping[str, Sequence[str]], random: Random) -> str:
    """Replace some words of a query, mostly by others of their kind."""
    words = _WORD.findall(text)
    for _ in range(random.choice((1, 1, 2, 3))):
        number = random.randrange(len(words))
        kind = _kind(words, number)
        if kind == "space":
            continue
        if random.random() < 0.9:
            words[number] = random.choice(known[kind])
        else:
            words[number] = random.choice(("", f"{words[number]} {words[number]}", random.choice(words)))
        if not words[number]:
            del words[number]
    return "".join(words)
