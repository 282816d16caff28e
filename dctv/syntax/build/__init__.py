"""Build nodes of the syntax tree from productions: one function per form, named as in the grammar."""

from __future__ import annotations

from collections.abc import Callable

from dctv.syntax.build import (
    commands,
    compared,
    expressions,
    names,
    nested,
    pivots,
    selects,
    statements,
    tables,
    times,
    worded,
)

FORMS: dict[str, Callable[..., object]] = {
    **names.FORMS,
    **expressions.FORMS,
    **compared.FORMS,
    **worded.FORMS,
    **nested.FORMS,
    **times.FORMS,
    **tables.FORMS,
    **pivots.FORMS,
    **selects.FORMS,
    **statements.FORMS,
    **commands.FORMS,
}
"""The constructor of each form, by name: a function of its place and its parts."""
