"""Translate errors of DuckDB, which may have passed through other engines' streams as text, to ours."""

from __future__ import annotations

import json
import re

from dctv.engines.intervals import TOO_LONG
from dctv.errors import DctvError, EngineError, Interrupted
from dctv.patterns import pattern
from dctv.temporary import MORE_ROOM
from dctv.types.values import dialect_type

_AS_JSON = pattern(r'(?:^| Error: )(?=\{"exception_type")')
"""How an error begins under the setting `errors_as_json`, from the end of its kind on; some come without that."""
_SOURCE = " when casting from source column "
_PREFIX = pattern(r"^(?:[A-Z][\w ]*(?:Error|Exception)|INTERRUPT Error|IOError|ArrowInvalid)\s*[:.]\s*", re.IGNORECASE)
_NOISE = pattern(
    r"arrow_scan: get_next failed\(\):\s*|External error:\s*|C Data interface error:\s*"
    r"|(?:exporting a|reading the) (?:stream|schema) (?:(?:from|of) the object )?registered as '[^']*' failed:\s*"
    r"|^(?:error|EngineError|Interrupted|ValueError|Invalid argument error):\s*",
    re.IGNORECASE,
)
_TYPES = pattern(r"\b(VARCHAR|BIGINT|INTEGER|SMALLINT|TINYINT|DOUBLE|FLOAT|BOOLEAN|BLOB)\b(?!_)")
_NO_FORM = pattern(r"[Nn]o function matches the given name and argument types '([^(]+)\((.*)\)'\. You might need.*")
_SEVERAL_FORMS = pattern(r'[Cc]ould not choose a best candidate function for the function call "([^(]+)\((.*)\)"\..*')
_OPERATORS = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE", "~~~": "GLOB"}
"""Functions that the engine has for operators."""
_OF_A_NUMBER = pattern(
    r"\w+\(\w+ (?:BOOLEAN|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|BIGNUM|DECIMAL|FLOAT|DOUBLE)(?:, /)?\)"
)
_CASTS = "cast the arguments, such as x::INT64 or x::STRING"
_FEW_FORMS = 3
"""Errors list the signatures of a function that has at most this many."""
_OVERFLOW = pattern(r"[Tt]ype U?INT128 with value (-?\d+) can't be cast because .*")
_DISK_FULL = pattern(
    r"failed to offload data block of size [^(]*\([^/)]*/([^)]*) used\)\. This limit was set by the"
    r" 'max_temp_directory_size' setting.*"
)
_INTERRUPTED = pattern(r"(?:^|: )interrupted$", re.IGNORECASE)
_INTERNAL = "INTERNAL Error: "
_FATAL = "FATAL Error: "
_TOO_LARGE = re.compile(r"^overflow in (?:addition|subtraction|multiplication) of U?INT(?:8|16|32|64)\b")
_HINTS = (
    ("max_temp_directory_size", MORE_ROOM),
    ("out of memory", "give more with SET memory_limit = '8GB' or --memory-limit, or free disk for spilling"),
    (_INTERNAL, "this is a fault of DuckDB's, not of the query; another form of the query may work"),
    ("database has been invalidated", "a query that ran beside it met a fault of DuckDB's; run this one again"),
    ("the duration of a span is positive", "leave such rows out: WHERE _duration > 0ns"),
    (TOO_LONG, "count days, months or years instead: INTERVAL '400 years', to_days(n)"),
    ("spans overlap:", "partition => 'a column' that keeps them apart, or on_overlap => 'lanes' or 'truncate'"),
    ("cannot spill to", MORE_ROOM),
)
"""Hints, by a part of the engine's message; matched as it is and in lower case."""


def text_of(error: BaseException) -> tuple[str, tuple[int, int] | None]:
    """Return an error's text, and the bytes of its query that it is about, from one to another, if it says so.

    An error of a query whose rows another query reads is within the text of the other one's.
    """
    text, location = str(error), None
    while (kind := _AS_JSON.search(text)) is not None:
        start = kind.end()
        try:
            found, length = json.JSONDecoder().raw_decode(text[start:])
            message = str(found["exception_message"])
            begin, count = map(int, json.loads(found.get("location", "[0, 0]")))
        except (LookupError, RecursionError, TypeError, ValueError):
            # A value that is cited, and not the engine's own.
            break
        if count:
            # The engine's names of columns are not always those of the query, which is shown instead.
            location, message = (begin, begin + count), message.partition(_SOURCE)[0]
        text = text[:start] + message + text[start + length :]
    return text, location


def is_fault(text: str) -> bool:
    """Whether an error's text tells of a fault of the engine, after which its database may run no more queries."""
    return _INTERNAL in text or _FATAL in text


def message_of(error: BaseException) -> str:
    """Return the line of an engine's message that is useful to the user."""
    return _message(text_of(error)[0])


def _message(text: str) -> str:
    text = text.split("\n\nLINE ", maxsplit=1)[0].split("\nhint: ", maxsplit=1)[0]
    text = re.split(r"\n\s*Candidate|\n\nDid you mean|\nUse |\s*Possible solutions:|\s*Stack Trace:", text)[0]
    before = None
    while before != text:
        before = text
        text = _NOISE.sub("", _PREFIX.sub("", text.strip()))
    text = _OVERFLOW.sub(r"integer overflow: \1 does not fit into 64 bits", " ".join(text.split()).rstrip(".!"))
    text = _DISK_FULL.sub(r"cannot spill more than \1 to disk: there is no more room", text)
    text = _NO_FORM.sub(lambda no: f"no form of `{_OPERATORS.get(no[1], no[1])}` takes ({no[2]})", text)
    text = _SEVERAL_FORMS.sub(r"several forms of `\1` take (\2)", text).replace("_LITERAL", "")
    text = _TYPES.sub(lambda found: dialect_type(found[1]), text)
    return text[:1].lower() + text[1:] if text[:2] != text[:2].upper() else text


def _forms(text: str) -> str:
    """Return the signatures of a function from the engine's message that none of them matches."""
    forms = re.findall(r"\n\t(\w+\([^\n]*\)) -> ", text)
    if len(forms) > _FEW_FORMS and all(map(_OF_A_NUMBER.fullmatch, forms)):
        return "it takes numbers; x::INT64 turns a string of digits into one"
    if not 0 < len(forms) <= _FEW_FORMS:
        return _CASTS
    shown = [form.replace(", /)", ")").replace('"', "") for form in forms]
    return f"it takes {' or '.join(_TYPES.sub(lambda found: dialect_type(found[1]), one) for one in shown)}"


def failure(error: BaseException) -> DctvError:
    """Return dctv's error for an exception of a running query."""
    if isinstance(error, DctvError):
        return error
    text, _ = text_of(error)
    message = _message(text)
    # Not wherever the word is: it may be in a value that is cited.
    if _INTERRUPTED.search(message) is not None:
        return Interrupted("interrupted")
    # A dctv error that passed through a stream of Arrow batches, as text.
    _, _, own_hint = text.partition("\nhint: ")
    matched_hint = next((hint for part, hint in _HINTS if part in text or part in text.lower()), None)
    if matched_hint is None and _TOO_LARGE.search(message) is not None:
        matched_hint = "x::INT128 and x::DOUBLE hold larger numbers, and TRY(...) makes these NULL"
    if matched_hint is None and _NO_FORM.search(text) is not None:
        matched_hint = _forms(text)
    if matched_hint is None and _SEVERAL_FORMS.search(text) is not None:
        matched_hint = _CASTS
    what = "the engine failed: " if _INTERNAL in text else ""
    return EngineError(what + message, hint=matched_hint or own_hint.partition("\n")[0] or None)
