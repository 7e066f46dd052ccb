"""`kbd conversation`: show what was said in a workbench, and the ids of its messages."""

import argparse
import json
from collections.abc import Callable

from kbd.cli.exits import OK
from kbd.cli.link import connect
from kbd.cli.names import find
from kbd.cli.spoken import conversation_of, titles_of, told
from kbd.cli.terminal import say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd conversation` and return what runs it."""
    parser.epilog = """\
examples:
  kbd conversation taxes
  kbd conversation taxes --tools

Each message has an id, by which `kbd undo`, `kbd regenerate` and `kbd fork` name it. What was
undone is not shown, and can still be named: `kbd log taxes --type UserMessageAdded` has it."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--tools", action="store_true", help="show tool calls and results, too")
    parser.add_argument("--json", action="store_true", help="all of it as JSON")
    return _conversation


def _conversation(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find(client, arguments.workbench)["id"])
        entries = conversation_of(client, workbench_id)
        titles = {} if arguments.json else titles_of(client, workbench_id, entries)
    if arguments.json:
        say(json.dumps(entries))
        return OK
    if not entries:
        say("Nothing was said yet.")
    for text in told(entries, titles, with_tools=arguments.tools):
        say(text)
    return OK
