"""Dot commands for display settings and values of parameters."""

from __future__ import annotations

from dctv.console.listing import Listing
from dctv.console.narration import print_stderr
from dctv.console.params import assigned, written
from dctv.console.verdict import OK
from dctv.errors import UsageError
from dctv.repl.config import PROJECT_FILE, config_file
from dctv.repl.conversation import Conversation
from dctv.repl.dot_command import DotCommand
from dctv.repl.settings import SETTINGS, modes, set_to

_CLEAR = "clear"


def _set(talk: Conversation, argument: str) -> int:
    name, _, value = argument.partition(" ")
    if value:
        set_to(talk.settings, name, value.strip())
        return OK
    if name:
        raise UsageError(f"found `{argument}`, expected a setting and its value, such as `maxrows 40`")
    rows = [(name, one.get(talk.settings), one.values, one.about) for name, one in SETTINGS.items()]
    talk.show(Listing(("name", "value", "possible", "about"), rows))
    path = config_file()
    files = [str(one) for one in (path, PROJECT_FILE) if one.exists()]
    verb = "says" if len(files) == 1 else "say"
    print_stderr(f"the prompt starts with what {' and '.join(files)} {verb}" if files else f"there is no {path}")
    return OK


def _mode(talk: Conversation, argument: str) -> int:
    code = _one(talk, "mode", argument)
    if argument and not talk.settings.writer.many and not talk.destination.is_file:
        print_stderr(f"results in mode `{argument}` go to the file that `.output` or `.once` names")
    return code


def _maxrows(talk: Conversation, argument: str) -> int:
    return _one(talk, "maxrows", argument)


def _one(talk: Conversation, name: str, argument: str) -> int:
    if argument:
        set_to(talk.settings, name, argument)
    else:
        print_stderr(f"{name} is {SETTINGS[name].get(talk.settings)}")
    return OK


def _timing(talk: Conversation, argument: str) -> int:
    if argument not in {"", "on", "off"}:
        raise UsageError(f"found `{argument}`, expected on or off")
    talk.settings.timing = argument == "on" if argument else not talk.settings.timing
    print_stderr(f"timing is {'on' if talk.settings.timing else 'off'}")
    return OK


def _param(talk: Conversation, argument: str) -> int:
    if not argument:
        rows = [(str(key), written(value)) for key, value in talk.settings.params.items()]
        talk.show(Listing(("name", "value"), rows))
    elif argument == _CLEAR:
        talk.settings.params.clear()
    else:
        key, value = assigned(argument)
        talk.settings.params[key] = value
    return OK


SETTING_COMMANDS = (
    DotCommand("set", "[NAME VALUE]", "show all settings, or set one", _set),
    DotCommand("mode", "[FORMAT]", f"choose how results are shown: {', '.join(modes())}", _mode),
    DotCommand("maxrows", "[N|all]", "maximum number of rows to show of a result", _maxrows),
    DotCommand("timing", "[on|off]", "show rows, time, CPU time and bytes read of each statement", _timing),
    DotCommand("param", "[NAME=VALUE|clear]", "show parameters, or set :NAME, as in .param limit=5ms", _param),
)
