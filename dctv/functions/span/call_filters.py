"""Filter calls, and report words of the filters that match nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from dctv.contracts.span_operator import Remarked, SpanOperator
from dctv.errors import nearest
from dctv.plan.nodes import ArrowStream

if TYPE_CHECKING:
    from dctv._kernels import Missed


def _filter_calls(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    missed = _kernels.Missed()
    return Remarked(
        _kernels.filter_calls(inputs[0], missed=missed, cancel=cancel, **options), partial(remark_of, missed)
    )


def remark_of(missed: Missed) -> str | None:
    """Report words that match nothing; None if all match."""
    names = missed.names
    remarks = [_missing(word, module, names, by_file=by_file) for word, module, by_file in missed.words]
    return "; ".join(dict.fromkeys(remarks)) or None


def _missing(word: str, module: str | None, names: list[str], *, by_file: bool) -> str:
    if by_file:
        return f"no call is of a source file `{word}`"
    where = "" if module is None else f" of `{module}`"
    near = None if word in names else nearest(word, names)
    return f"no call is of a function `{word}`{where}" + (f", did you mean `{near}`?" if near else "")


FILTER_CALLS = SpanOperator("filter calls", "dctv.filter_calls: what filters show", _filter_calls, None, by_time=True)
"""It sorts calls of the same time by their ids itself."""
