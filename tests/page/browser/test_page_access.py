"""Accessibility of the page: by keyboard alone, and for screen readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page.browser.conftest import Open
from tests.page.served import FTRACE, PERFETTO
from tests.page.view import REFUSED, until
from web.build import packages

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the text of axe-core, of the version that is locked."""
    return (Path(packages()) / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def faults(page: Page, axe: str) -> list[str]:
    """Return what axe-core finds that keeps people out."""
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate(
        "(tags) => axe.run(document, { runOnly: { type: 'tag', values: tags } })", RULES
    )
    return [
        f"{fault['id']}: {node['target']} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(view_of: Open, axe: str, scheme: str) -> None:
    view = view_of(FTRACE, color_scheme=scheme, expected=REFUSED)
    assert faults(view.page, axe) == []
    view.find("sched")
    expect(view.panel("Details")).to_contain_text("lasts")
    assert faults(view.page, axe) == []
    view.timeline.focus()
    view.press("r")
    expect(view.grid("Slices by name")).to_be_visible()
    assert faults(view.page, axe) == []
    view.run("SELECT name, COUNT(*) AS n FROM t.timeline GROUP BY name")
    expect(view.page.get_by_role("gridcell").first).to_be_visible()
    assert faults(view.page, axe) == []
    view.run("SELECT wrong FROM t.timeline")
    expect(view.page.get_by_role("alert").filter(has_text="error:")).to_be_visible()
    assert faults(view.page, axe) == []
    for keys in ("Control+k", "Control+p", "?"):
        view.timeline.focus()
        view.press(keys)
        expect(view.page.get_by_role("dialog")).to_be_visible()
        assert faults(view.page, axe) == []
        view.press("Escape")


def focused(page: Page) -> str:
    """Return what the focus is on: its role and name."""
    return str(
        page.evaluate(
            """() => {
                let at = document.activeElement;
                while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                const name = at?.getAttribute('aria-label') ?? at?.textContent;
                return `${at?.getAttribute('role') ?? at?.localName} ${name}`;
            }"""
        )
    )


def test_all_is_reached_by_tab(view_of: Open) -> None:
    view = view_of(FTRACE)
    seen: list[str] = []
    for _ in range(30):
        view.press("Tab")
        seen.append(focused(view.page))
    for wanted in (
        "input Search slices",
        "button CommandsCtrl K",
        "tree Tracks",
        "application Timeline",
        "tab Details",
    ):
        assert [name for name in seen if name.replace(" ", "").startswith(wanted.replace(" ", ""))], (wanted, seen)


def test_a_trace_is_read_by_keyboard_alone(view_of: Open) -> None:
    view = view_of(PERFETTO)
    view.press("/")
    view.page.keyboard.type("futex")
    view.press("Enter")
    first = until(lambda: view.told.get("slice"), "nothing is found")
    view.press("Enter")
    until(lambda: view.told.get("slice") != first, "there is no second match")
    view.press("Tab", "Shift+N")
    until(lambda: view.told.get("slice") == first, "N does not go back to the first match")
    expect(view.panel("Details")).to_contain_text("lasts")
    view.press(".")
    until(lambda: view.told.get("slice") != first, "there is no next slice")
    view.press(",")
    until(lambda: view.told.get("slice") == first, "comma does not go back to the slice before")
    view.moved(lambda: view.press("f"))
    view.press("r")
    expect(view.grid("Slices by name")).to_be_visible()
    view.press("Escape", "m")
    until(lambda: "marks" in view.told, "there is no mark")


def test_the_tree_and_the_palette_by_keyboard(view_of: Open) -> None:
    view = view_of(PERFETTO)
    view.tracks.focus()
    view.press("ArrowDown")
    first = view.tracks.get_by_role("treeitem").first
    expect(first).to_have_attribute("aria-selected", "true")
    rows = view.tracks.get_by_role("treeitem").all_inner_texts()
    view.press("ArrowLeft")
    expect(first).to_have_attribute("aria-expanded", "false")
    assert view.tracks.get_by_role("treeitem").all_inner_texts() != rows
    view.press("ArrowRight")
    expect(first).to_have_attribute("aria-expanded", "true")
    view.press("ArrowDown", "ArrowDown", "p")
    expect(view.page.get_by_role("list", name="Pinned tracks")).to_be_visible()
    view.press("Control+k")
    view.page.keyboard.type("unpin all")
    view.press("Enter")
    expect(view.page.get_by_role("list", name="Pinned tracks")).to_be_hidden()
    view.press("?")
    expect(view.page.get_by_role("dialog", name="Keys")).to_contain_text("Next match")
    view.press("Escape")
    expect(view.page.get_by_role("dialog")).to_be_hidden()


def test_a_palette_gets_all_keys_from_the_first(view_of: Open) -> None:
    """Also those typed before the next frame is drawn."""
    view = view_of(FTRACE)
    view.timeline.focus()
    before = view.told
    open_at_once = view.page.evaluate(
        """async () => {
            const key = new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true });
            document.activeElement.dispatchEvent(key);
            await null;
            await null;
            return [document.querySelector('dialog[open]') !== null, document.activeElement.getAttribute('aria-label')];
        }"""
    )
    assert open_at_once == [True, "Commands"]
    view.press("Escape")
    expect(view.page.get_by_role("dialog")).to_have_count(0)
    assert view.told == before
