"""`kbd publish`: make the draft's changes the workbench's files."""

import argparse
from collections.abc import Callable

from kbd.cli.exits import OK
from kbd.cli.link import connect
from kbd.cli.names import find
from kbd.cli.publishing import publish
from kbd.cli.terminal import line, say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd publish` and return what runs it."""
    parser.epilog = """\
examples:
  kbd publish taxes
  kbd publish taxes summary-2025     # only this file; the rest stays in the draft
  kbd publish taxes --keep-both      # where a published file changed meanwhile

Files that you added from elsewhere are never written; `kbd wb extract` copies results out."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="only these files")
    parser.add_argument("--keep-both", action="store_true", help="on a conflict, keep both files")
    parser.add_argument(
        "--accept-external", action="store_true", help="also files with new external references"
    )
    parser.add_argument("--yes", action="store_true", help="confirm deletions")
    return _publish


def _publish(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find(client, arguments.workbench)["id"])
        published = publish(
            client,
            workbench_id,
            paths=arguments.paths,
            keep_both=arguments.keep_both,
            yes=arguments.yes,
            accept_external=arguments.accept_external,
        )
    for path in published["published"]:
        say(f"published {line(path)}")
    say(f"Checkpoint {published['checkpoint_id']} holds what was there before.")
    return OK
