"""`kbd fork`: make a workbench from another one, as it is or as it was."""

import argparse
from collections.abc import Callable
from typing import Any

from kbd.cli.conversation import read_conversation, resolve_message
from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import counted, note, say

__all__ = ["command"]

MODES = {
    "all": "clone_all",
    "context": "clone_files_and_context_no_chat",
    "files": "clone_files_only",
}


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd fork` and return what runs it."""
    parser.epilog = """\
examples:
  kbd fork taxes                           as it is now; prints the id
  kbd fork taxes --from u1f2e --name try   as it was after a message
  kbd fork taxes --from 212                as it was after an event of its log
  kbd fork taxes --mode files              without conversation, context and checkpoints

It has bytes and a log of its own. A draft is not taken over, nor is consent."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument(
        "--from", dest="point", metavar="MESSAGE|SEQ", help="a message's id, or an event's number"
    )
    parser.add_argument(
        "--mode", choices=tuple(MODES), default="all",
        help="all; context: without the conversation; files: nothing but files",
    )  # fmt: skip
    parser.add_argument("--name", metavar="NAME", help="its name (default: NAME fork)")
    return _fork


def _fork(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        source = find_workbench(client, arguments.workbench)
        params: dict[str, Any] = {
            "source_workbench_id": source["id"],
            "mode": MODES[arguments.mode],
            # A name has at most 200 characters, of which the ending takes five.
            "name": arguments.name or f"{source['name'][:190]} fork",
        }
        point = arguments.point
        if point and point.isascii() and point.isdigit():
            params["from_seq"] = int(point)
        elif point:
            entries = read_conversation(client, str(source["id"]))
            params["from_message_id"] = resolve_message(entries, point)
        forked = call(client, "WorkbenchFork", params, slow=True)
    say(forked["workbench_id"])
    held = f"{counted(forked['files'], 'file')}, {counted(forked['messages'], 'message')}"
    note(f"Forked at event {forked['source_seq']}: {held}.")
    return OK
