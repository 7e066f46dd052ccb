"""`kbd undo`: undo a conversation to an earlier message, with files and draft as they were."""

import argparse
from collections.abc import Callable
from typing import Any

from kbd.cli.conversation import is_message, read_conversation, resolve_message
from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import line, note, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd undo` and return what runs it."""
    parser.epilog = """\
examples:
  kbd undo taxes                   one message back
  kbd undo taxes u1f2e             to the message whose id begins so
  kbd conversation taxes           shows the ids

Files, draft and conversation are again what they were after that message; behind a publish, too.
Nothing is lost: naming a message that was cut off brings all of it back. Of published files there
is a checkpoint of what they were before."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="its id, or how that begins")
    return _undo


def _undo(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        entries = read_conversation(client, str(workbench["id"]))
        last = _messages(entries)[-1:]
        message_id = (
            resolve_message(entries, arguments.message)
            if arguments.message
            else _previous_message(entries)
        )
        params = {"workbench_id": workbench["id"], "message_id": message_id}
        done = call(client, "WorkshopUndoToMessage", params, slow=True)
        now = _messages(read_conversation(client, str(workbench["id"])))
    text = line(now[-1]["text"], 60) if now else ""
    say(f"{line(workbench['name'])} ends in message {message_id} again: {text}")
    say(f"  draft   {'as it was then, see `kbd review`' if done['has_draft'] else 'none'}")
    changed = ", ".join(line(path) for path in done["files_changed"])
    say(f"  files   {changed or 'as they were'}")
    if "checkpoint_id" in done:
        say(f"  before  checkpoint {done['checkpoint_id']}")
    if last and last[0]["message_id"] not in {each["message_id"] for each in now}:
        note(f"Back again: kbd undo {workbench['id']} {last[0]['message_id']}")
    return OK


def _previous_message(entries: list[dict[str, Any]]) -> str:
    """Return the message before the last one.

    Raises:
        Stop: There is none.
    """
    messages = _messages(entries)
    if len(messages) < 2:
        raise Stop("there is no earlier message to go back to", FAILED)
    return str(messages[-2]["message_id"])


def _messages(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in entries if is_message(entry)]
