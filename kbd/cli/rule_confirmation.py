"""Confirmation of a rule that came with a restored home: what it does by itself, each by name."""

import argparse
import shlex
from collections.abc import Iterator
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, USAGE, Stop
from kbd.cli.terminal import ask, is_interactive, line, note
from kbd.lookalikes import mark_hidden

__all__ = ["confirm_rule", "render_acts"]

_QUESTIONS = {
    "command": "May this command be run for each outcome?",
    "publish": "May its runs publish without a review?",
    "deliver-to": "May its results be written to this folder?",
}


def render_acts(watch: dict[str, Any]) -> list[str]:
    """Return lines that tell what a watch does: its folder, and each act that needs nobody."""
    acts = dict(_acts(watch))
    fields = {
        "folder": watch["folder"],
        "command": acts.get("command", "none"),
        "publish": watch["publish"],
        "delivery": acts.get("deliver-to", "none"),
    }
    shown = [f"  {name:<9} {_whole(text)}" for name, text in fields.items()]
    return [line(watch["name"], 60), *shown]


def _whole(text: str) -> str:
    """Return a text as one line, with nothing left out and nothing in it that nobody sees.

    A person answers for all of it: what is cut off or hidden would be confirmed unseen.
    """
    return mark_hidden(text).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")


def _acts(watch: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a rule does by itself, each with the text that confirms it."""
    if watch["on_outcome"]:
        yield "command", shlex.join(watch["on_outcome"])
    if watch["publish"] == "auto":
        yield "publish", "auto"
    if "deliver_to" in watch:
        yield "deliver-to", watch["deliver_to"]


def confirm_rule(watch: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the confirmation of what a restored watch does by itself, after showing it.

    Args:
        watch: Its row of `WatchList`.
        arguments: `confirm` has what was confirmed beforehand, as `command=…`, `publish=auto` and
            `deliver-to=…`.

    Raises:
        Stop: Something was not confirmed; or what was confirmed, the rule does not do.
    """
    acts = dict(_acts(watch))
    given = dict(_parse(text) for text in arguments.confirm or ())
    for name, text in given.items():
        if acts.get(name) != text:
            raise Stop(f"the rule has no {name}={text}: `kbd watch show` shows it", USAGE)
    note(
        "\n".join(("This rule came with a backup; nothing of it is in force.", *render_acts(watch)))
    )
    missing = {name: text for name, text in acts.items() if name not in given}
    if missing and not is_interactive():
        flags = " ".join(
            shlex.join(("--confirm", f"{name}={text}")) for name, text in missing.items()
        )
        msg = (
            "what the rule does by itself must be confirmed and nobody can be asked here, so "
            f"nothing is done; if it is yours: kbd watch resume {watch['watch_id']} {flags}"
        )
        raise Stop(msg, CONFIRMATION_NEEDED)
    for name, text in missing.items():
        note(f"  {name}: {_whole(text)}")
        if not ask(_QUESTIONS[name]):
            raise Stop(f"the {name} was not confirmed; the watch stays paused", CONFIRMATION_NEEDED)
    confirmed: dict[str, Any] = {}
    if "command" in acts:
        confirmed["on_outcome"] = watch["on_outcome"]
    if "publish" in acts:
        confirmed["publish"] = "auto"
    if "deliver-to" in acts:
        confirmed["deliver_to"] = watch["deliver_to"]
    return {"confirm": confirmed}


def _parse(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or name not in _QUESTIONS:
        raise Stop("--confirm takes command=CMD, publish=auto or deliver-to=DIR", USAGE)
    if name == "command":
        try:
            # However it is quoted: the words are what is run.
            value = shlex.join(shlex.split(value))
        except ValueError as error:
            raise Stop(f"--confirm command cannot be read: {error}", USAGE) from None
    return name, value
