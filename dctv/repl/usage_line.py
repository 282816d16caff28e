"""Show the usage of the function call at the cursor, on a line below the prompt."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer

from dctv.session import Session
from dctv.syntax.open_call import enclosing_call
from dctv.syntax.statements import cut


def show_usages(prompt: PromptSession[str], session: Session) -> None:
    """Show the usage of the function whose parentheses contain the cursor below a prompt."""
    follow = _follower(prompt, session)
    prompt.default_buffer.on_text_changed += follow
    prompt.default_buffer.on_cursor_position_changed += follow


def _follower(prompt: PromptSession[str], session: Session) -> Callable[[Buffer], None]:
    def follow(buffer: Buffer) -> None:
        before = buffer.document.text_before_cursor
        name = "" if before.lstrip().startswith(".") else enclosing_call(before[cut(before).rest :])
        prompt.bottom_toolbar = (session.usage(name) or None) if name else None

    return follow
