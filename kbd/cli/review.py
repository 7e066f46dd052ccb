"""`kbd review`: what the draft would change."""

import argparse
import json
from collections.abc import Callable

from kbd.cli.changes import described
from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.names import find
from kbd.cli.terminal import note, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd review` and return what runs it."""
    parser.epilog = """\
examples:
  kbd review taxes
  kbd review taxes --json"""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _review


def _review(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find(client, arguments.workbench)["id"])
        found = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})
    if arguments.json:
        say(json.dumps(found))
        return OK
    if found["draft_id"] is None:
        say("There is no draft.")
        return OK
    if found.get("draft_summary"):
        say(f"{found['draft_summary']}\n")
    say(described(found["changes"]))
    note(f"Publish: kbd publish {workbench_id}   Throw away: kbd discard {workbench_id}")
    return OK
