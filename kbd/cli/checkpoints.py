"""`kbd checkpoints`: list, make and restore what was published at some moment."""

import argparse
import json
from collections.abc import Callable

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.pages import add_limit, all_pages, newest_rows, render_total
from kbd.cli.terminal import ask, format_time, is_interactive, line, render_table, say, size
from kbd.client.blocking import Client

__all__ = ["command"]

ACTIONS = ("list", "show", "make", "restore")


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd checkpoints` and return what runs it."""
    parser.epilog = """\
examples:
  kbd checkpoints taxes                       each publish, undo and restore leaves one
  kbd checkpoints taxes --limit 5             the newest
  kbd checkpoints taxes show c1f2e            its files
  kbd checkpoints taxes make "before March"
  kbd checkpoints taxes restore c1f2e         the published files are again what they were then

A restore leaves a checkpoint of what was there before it, and is refused while a draft is open."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="list", metavar="ACTION",
        help=f"{', '.join(ACTIONS)} (default: list)",
    )  # fmt: skip
    parser.add_argument(
        "checkpoint", nargs="?", metavar="ID", help="a checkpoint's id; of `make`, what it is for"
    )
    add_limit(parser, "of `list`")
    parser.add_argument("--yes", action="store_true", help="do not ask before `restore`")
    parser.add_argument("--json", action="store_true", help="`list` and `show` as JSON")
    return _checkpoints


def _checkpoints(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        match arguments.action:
            case "make":
                params = {
                    "workbench_id": workbench_id, "description": arguments.checkpoint or "",
                }  # fmt: skip
                say(call(client, "CheckpointCreate", params)["checkpoint_id"])
            case "show":
                _show(
                    client,
                    workbench_id,
                    _find_checkpoint(client, workbench_id, arguments),
                    arguments,
                )
            case "restore":
                _restore(
                    client,
                    workbench_id,
                    _find_checkpoint(client, workbench_id, arguments),
                    arguments,
                )
            case _:
                _list(client, workbench_id, arguments)
    return OK


def _list(client: Client, workbench_id: str, arguments: argparse.Namespace) -> None:
    listing = ("CheckpointsList", {"workbench_id": workbench_id}, "checkpoints")
    total = 0
    if arguments.limit:
        answer = newest_rows(client, *listing, arguments.limit)
        found, total = answer["checkpoints"], answer["total"]
    else:
        found = all_pages(client, *listing)
    if arguments.json:
        say(json.dumps(found))
        return
    rows = [
        (
            each["checkpoint_id"],
            format_time(each["created_at"]),
            str(each["stats"]["files"]),
            size(each["stats"]["total_bytes"]),
            line(each["description"] or each["reason"]),
        )
        for each in found
    ]
    say(render_table(("checkpoint", "made (UTC)", "files", "size", "what for"), rows))
    for text in render_total(len(found), total, "checkpoints"):
        say(text)


def _show(
    client: Client, workbench_id: str, checkpoint_id: str, arguments: argparse.Namespace
) -> None:
    params = {"workbench_id": workbench_id, "checkpoint_id": checkpoint_id}
    found = call(client, "CheckpointGet", params)
    if arguments.json:
        say(json.dumps(found))
        return
    rows = [(file["path"], size(file["size_bytes"]), file["hash"]) for file in found["files"]]
    say(render_table(("file", "size", "hash"), rows))


def _restore(
    client: Client, workbench_id: str, checkpoint_id: str, arguments: argparse.Namespace
) -> None:
    if not arguments.yes and not is_interactive():
        raise Stop("restoring needs a yes; --yes gives it", CONFIRMATION_NEEDED)
    if not arguments.yes and not ask(f"Bring the published files back to {checkpoint_id}?"):
        raise Stop("the files are as they were", CONFIRMATION_NEEDED)
    params = {"workbench_id": workbench_id, "checkpoint_id": checkpoint_id}
    done = call(client, "CheckpointRestore", params, slow=True)
    changed = ", ".join(line(path) for path in done["files_changed"]) or "none"
    say(f"Restored {checkpoint_id}. Files changed: {changed}.")
    say(f"What was there before: checkpoint {done['pre_restore_checkpoint_id']}")


def _find_checkpoint(client: Client, workbench_id: str, arguments: argparse.Namespace) -> str:
    """Return the checkpoint whose id begins as named.

    Raises:
        Stop: None is named, or none or several are meant.
    """
    named = arguments.checkpoint
    if not named:
        raise Stop(f"which? kbd checkpoints WB {arguments.action} ID", USAGE)
    found = all_pages(client, "CheckpointsList", {"workbench_id": workbench_id}, "checkpoints")
    meant = [c["checkpoint_id"] for c in found if c["checkpoint_id"].startswith(named)]
    # A whole id may also be the beginning of another.
    if len(meant) == 1 or named in meant:
        return str(named if named in meant else meant[0])
    msg = f"several begin with {named}: {', '.join(meant)}" if meant else f"there is no {named}"
    raise Stop(msg, FAILED)
