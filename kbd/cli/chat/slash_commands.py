"""Slash commands: parses a typed line as a command, which begins with a slash, or a message."""

import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kbd.cli.chat.actions import clear, discard, model, publish, reload, undo, verbose
from kbd.cli.chat.answer import answer_message, resume_run
from kbd.cli.chat.review_view import show_review
from kbd.cli.chat.session import ChatSession
from kbd.cli.chat.views import cost, docs, files, history, search, tools
from kbd.cli.exits import CANCELLED, OK, UNREACHABLE, USAGE, Stop
from kbd.cli.terminal import line, note, say

__all__ = ["COMMANDS", "handle_line"]


class _Command(NamedTuple):
    takes: str
    what: str
    do: Callable[[ChatSession, str], int]


def _quit_chat(session: ChatSession, argument: str) -> int:
    del argument
    session.is_over = True
    return OK


def _resume_run(session: ChatSession, argument: str) -> int:
    del argument
    return resume_run(session)


def _print_help(session: ChatSession, argument: str) -> int:
    del session, argument
    width = max(len(f"{name} {command.takes}") for name, command in COMMANDS.items())
    for name, command in COMMANDS.items():
        say(f"  {f'{name} {command.takes}':<{width}}  {command.what}")
    say(_KEYS)
    return OK


_KEYS = """
Anything else is a message. Alt-Enter, or a backslash at the end, begins a new line in it; // at its
beginning stands for one slash. Tab completes commands, file names and models; Ctrl-R searches what
was typed before. Ctrl-C cancels the run, or clears the line; Ctrl-D leaves."""


COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {
        "/help": _Command("", "this", _print_help),
        "/files": _Command("", "the files", files),
        "/docs": _Command("", "the documents that can be searched, with their ids", docs),
        "/search": _Command("WORDS", "where something is said; needs no model", search),
        "/tools": _Command("[NAME]", "the tools that the model may call", tools),
        "/history": _Command("[N]", "what was said, or the last N messages", history),
        "/review": _Command("[FILE]", "what the draft would change", show_review),
        "/publish": _Command(
            "[FOLDER]", "take the draft over; copy the results to FOLDER", publish
        ),
        "/discard": _Command("", "throw the draft away", discard),
        "/undo": _Command("[N]", "take the last question back, or N, with all that was done", undo),
        "/resume": _Command("", "go on with the run that stopped", _resume_run),
        "/clear": _Command("", "a new conversation with the same files; the old one stays", clear),
        "/reload": _Command("[FOLDER]", "files and index anew, or the index in FOLDER", reload),
        "/model": _Command("[ID]", "the model of the next answer", model),
        "/cost": _Command("", "tokens and money", cost),
        "/verbose": _Command("", "tool calls in full, or in short again", verbose),
        "/quit": _Command("", "leave; everything is kept", _quit_chat),
    }
)


def handle_line(session: ChatSession, text: str) -> int:
    """Run a typed line and return its exit code; what goes wrong is printed here."""
    try:
        session.wake()
        return _dispatch(session, text.strip())
    except Stop as stop:
        if stop.message:
            note(stop.message)
        if stop.code == UNREACHABLE:
            session.drop()
        return stop.code
    except KeyboardInterrupt:
        note("Interrupted.")
        # An answer may be read half.
        session.drop()
        return CANCELLED


def _dispatch(session: ChatSession, text: str) -> int:
    if not text:
        return OK
    if text.startswith("//"):
        return answer_message(session, text[1:])
    if not text.startswith("/"):
        return answer_message(session, text)
    name, _, argument = text.partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise Stop(_unknown_text(name), USAGE)
    return command.do(session, argument.strip())


def _unknown_text(name: str) -> str:
    told = f"There is no command {line(name, 40)}"
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.0)
    return f"{told}; the nearest is {near[0]}. /help lists all; //… sends a message."
