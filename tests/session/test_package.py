"""The package documents itself: names, help, and errors."""

from __future__ import annotations

import pydoc

import pytest

import dctv
from dctv import errors


def test_the_package_lists_its_names() -> None:
    assert dir(dctv) == sorted(dctv.__all__)
    assert {"DctvError", "DctvWarning", "Result", "Session", "TraceReader", "UsageError"} < set(dir(dctv))
    for name in dir(dctv):
        assert getattr(dctv, name) is not None


def test_help_shows_sessions_results_and_errors() -> None:
    text = pydoc.plain(pydoc.render_doc(dctv))
    for name in dctv.__all__:
        shown = f"    {name}(" if name == "compare" else f"    class {name}("
        assert name == "__version__" or shown in text, name
    for method in ("mount(", "sql(", "fetchall(", "__arrow_c_stream__("):
        assert f" |  {method}" in text


def test_errors_of_the_package_are_those_that_are_raised() -> None:
    with dctv.Session() as session, pytest.raises(dctv.BindError):
        session.sql("SELECT nothing")
    assert dctv.BindError is errors.BindError
    assert isinstance(dctv.Session(warn=False).sql("SELECT 1"), dctv.Result)


def test_missing_names_raise_attribute_errors() -> None:
    wrong = "sesion"
    with pytest.raises(AttributeError, match="module 'dctv' has no attribute 'sesion'"):
        getattr(dctv, wrong)
