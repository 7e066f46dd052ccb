"""`kbd discard`: throw the draft away."""

import argparse
from collections.abc import Callable

from kbd.cli.exits import CONFIRMATION_NEEDED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import ask, is_interactive, note, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd discard` and return what runs it."""
    parser.epilog = """\
examples:
  kbd discard taxes
  kbd discard taxes --yes

Nothing is lost: `kbd wb recover taxes` brings it back."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return _discard


def _discard(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        if not workbench["has_draft"]:
            say("There is no draft.")
            return OK
        if not arguments.yes and not is_interactive():
            raise Stop("discarding needs a yes; --yes gives it", CONFIRMATION_NEEDED)
        if not arguments.yes and not ask(f"Throw away the draft of {workbench['name']}?"):
            raise Stop("the draft is kept", CONFIRMATION_NEEDED)
        call(client, "DraftDiscard", {"workbench_id": workbench["id"]})
    say("The draft is discarded.")
    note(f"Back again: kbd wb recover {workbench['id']}")
    return OK
