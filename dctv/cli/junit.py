"""Write assertions as a JUnit report, one test case each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dctv.cli.tally import CaseReport
from dctv.visible import harmless


def junit_xml(cases: Sequence[CaseReport]) -> bytes:
    """Return the report; it contains no times, so equal runs give equal bytes."""
    failures = sum(c.failure is not None for c in cases)
    errors = sum(c.error is not None for c in cases)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites tests="{len(cases)}" failures="{failures}" errors="{errors}">',
        f'  <testsuite name="dctv" tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="0">',
    ]
    for case in cases:
        lines.extend(_case(case))
    lines.extend(["  </testsuite>", "</testsuites>", ""])
    return "\n".join(lines).encode("utf-8", "backslashreplace")


def _case(case: CaseReport) -> list[str]:
    opening = f"    <testcase classname={_attribute(case.source)} name={_attribute(case.name)}"
    kind, text = ("failure", case.failure) if case.failure is not None else ("error", case.error)
    if text is None:
        return [f"{opening}/>"]
    message = text.split("\n", 1)[0]
    return [
        f"{opening}>",
        f"      <{kind} message={_attribute(message)}>{escape(harmless(text), quote=False)}</{kind}>",
        "    </testcase>",
    ]


def _attribute(text: str) -> str:
    return f'"{escape(harmless(" ".join(text.split())))}"'
