"""`kbd wb`: make, list, show, fill, empty, recover, archive and delete workbenches."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, OK, USAGE, Stop
from kbd.cli.files import add, extract
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.pages import add_limit, newest_rows, render_total
from kbd.cli.patience import told_if_slow
from kbd.cli.recover import recover
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import ask, format_time, is_interactive, line, note, render_table, say, size

__all__ = ["command"]

DEFAULT_ROWS = 50
"""How many `list` shows without --limit."""

STATUSES = ("idle", "running", "waiting", "draft", "damaged", "unread", "archived")

ORDERS = MappingProxyType(
    {"created": "newest", "updated": "last changed", "name": "last", "size": "largest"}
)
"""What `list` sorts by, and what those are called that it shows where some are left out."""

ACTIONS = (
    "new", "list", "show", "add", "rm", "extract", "recover", "archive", "unarchive", "delete"
)  # fmt: skip


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd wb` and return what runs it."""
    parser.epilog = """\
examples:
  kbd wb new taxes receipts/*          make one and add files; prints its id
  kbd wb list                          the newest 50; --limit N or --json for more
  kbd wb list --search invoice         with this word in its name or its files' names
  kbd wb list --status draft           where changes wait for review
  kbd wb list --sort size
  kbd wb show taxes                    its files, draft and runs
  kbd wb add taxes more/*
  kbd wb rm taxes old-receipt          with a draft open: a deletion in the draft
  kbd wb extract taxes --out results   copy published files out, all or the ones named
  kbd wb recover taxes --list          drafts that were discarded or undone
  kbd wb recover taxes                 the newest of them is the draft again
  kbd wb recover taxes d1f2 summary    of another one, only this file
  kbd wb recover taxes --to old        its files, into a folder
  kbd wb archive taxes                 packed into one file until it is next used
  kbd wb unarchive taxes               unpacked again
  kbd wb delete taxes                  with its log and all versions"""
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("workbench", nargs="?", metavar="WB", help="its id or name")
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="files to add, remove, extract, recover; for `recover` a draft may come first",
    )
    parser.add_argument("--out", metavar="DIR", default=".", help="where `extract` puts files")
    parser.add_argument("--yes", action="store_true", help="do not ask before `delete`")
    parser.add_argument("--list", action="store_true", help="with `recover`: what there is")
    parser.add_argument("--to", metavar="DIR", help="with `recover`: write the files there")
    listing = parser.add_argument_group("for `list`")
    listing.add_argument(
        "--status", choices=STATUSES, action="append", default=[],
        help="only those that stand so; may be given more than once",
    )  # fmt: skip
    listing.add_argument(
        "--search", metavar="WORDS", default="", help="only those with these words"
    )
    listing.add_argument(
        "--sort",
        choices=tuple(ORDERS),
        default="created",
        help="by what, the last shown is the most",
    )
    add_limit(listing, "of them")
    parser.add_argument(
        "--json", action="store_true", help="`list`, `show` and `recover --list` as JSON"
    )
    return _workbench


def _workbench(arguments: argparse.Namespace) -> int:
    if arguments.action == "list":
        return _list(arguments)
    if not arguments.workbench:
        raise Stop(f"which workbench? kbd wb {arguments.action} WB", USAGE)
    match arguments.action:
        case "new":
            return _new(arguments)
        case "show":
            return _show(arguments)
        case "add":
            return _add(arguments)
        case "rm":
            return _remove(arguments)
        case "extract":
            return _extract(arguments)
        case "recover":
            return recover(arguments)
        case "archive":
            return _archive(arguments)
        case "unarchive":
            return _unarchive(arguments)
        case _:
            return _delete(arguments)


def _new(arguments: argparse.Namespace) -> int:
    with connect_or_start(arguments) as client:
        created = call(client, "WorkbenchCreate", {"name": arguments.workbench})
        workbench_id = str(created["workbench_id"])
        try:
            skipped = add(client, workbench_id, arguments.files)
        except Stop:
            # Its id was not told yet: the next try would be another one of that name.
            call(client, "WorkbenchDelete", {"workbench_id": workbench_id})
            raise
    say(workbench_id)
    return FAILED if skipped else OK


def _list(arguments: argparse.Namespace) -> int:
    asked = {
        "status": arguments.status, "query": arguments.search, "order": arguments.sort
    }  # fmt: skip
    most = arguments.limit or (sys.maxsize if arguments.json else DEFAULT_ROWS)
    with connect(arguments) as client:
        found = newest_rows(client, "WorkbenchList", asked, "workbenches", most)
    workbenches = found["workbenches"]
    damaged = [each for each in workbenches if "reason" in each]
    if arguments.json:
        say(json.dumps(workbenches))
        return FAILED if damaged else OK
    rows = [
        (
            each["id"],
            line(each["name"], 32),
            str(each["files"]),
            each["status"],
            size(each["disk_bytes"]),
            format_time(each["updated_at"]),
        )
        for each in workbenches
    ]
    say(render_table(("id", "name", "files", "status", "size", "changed (UTC)"), rows))
    for told in render_total(len(rows), found["total"], "workbenches", ORDERS[arguments.sort]):
        say(told)
    for each in damaged:
        note(f"{each['id']}: {line(each['reason'])}")
    return FAILED if damaged else OK


def _show(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        named = {"workbench_id": workbench["id"]}
        opened = call(client, "WorkbenchOpen", named)["workbench"]
        with told_if_slow(_LOOKING):
            files = call(client, "WorkbenchFilesList", {**named, "look_into": True})["files"]
        runs = call(client, "RunList", named)["runs"]
    if arguments.json:
        say(json.dumps({"workbench": opened, "files": files, "runs": runs}))
        return OK
    say(f"{line(opened['name'])} ({opened['id']})")
    say(f"  model   {line(opened['default_model_id'])}")
    say(f"  draft   {'yes, see `kbd review`' if opened['has_draft'] else 'none'}")
    say(f"  events  {opened['last_seq']}")
    if verified := opened.get("verified_at"):
        say(f"  checked {format_time(verified)} (UTC), all of it")
    if "reason" in opened:
        told = "can only be read: " if opened["is_read_only"] else ""
        say(f"  damage  {told}{line(opened['reason'], 1000)}")
    say()
    rows = [(f["path"], size(f["size"]), f["file_kind"], _file_note(f)) for f in files]
    say(render_table(("file", "size", "kind", "note"), rows))
    if runs:
        table = [(r["run_id"], r["status"], format_time(r["started_at"])) for r in runs]
        say(f"\n{render_table(('run', 'status', 'started (UTC)'), table)}")
    return OK


_LOOKING = "Looking into the files for what they carry: the first time that may take 20 seconds…"

_SHOWN_CARRIED = 3
_CARRIED_WIDTH = 60


def _file_note(file: dict[str, Any]) -> str:
    """Return what to know of a file: why it is not read, what it carries."""
    notes = [file["reason"]] if "reason" in file else []
    carried = file.get("active_content")
    if carried:
        more = len(carried) - _SHOWN_CARRIED
        shown = [line(each, _CARRIED_WIDTH) for each in carried[:_SHOWN_CARRIED]]
        notes.append(f"carries {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}")
    elif carried is None and not file.get("is_opaque") and not notes:
        notes.append("not looked into for what it carries")
    return "; ".join(notes)


def _add(arguments: argparse.Namespace) -> int:
    files = _render_files(arguments)
    with connect(arguments) as client:
        skipped = add(client, str(find_workbench(client, arguments.workbench)["id"]), files)
    say(f"Added {len(files) - len(skipped)} of {len(files)}.")
    return FAILED if skipped else OK


def _remove(arguments: argparse.Namespace) -> int:
    files = _render_files(arguments)
    with connect(arguments) as client:
        named = {"workbench_id": find_workbench(client, arguments.workbench)["id"]}
        removed = call(client, "WorkbenchFilesRemove", {**named, "workbench_paths": files})
    where = " in the draft; publishing confirms it" if removed["in_draft"] else ""
    say(f"Removed {', '.join(line(path) for path in removed['removed']) or 'nothing'}{where}.")
    return OK


def _extract(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        for path in extract(client, workbench_id, arguments.out, arguments.files or None):
            say(path)
    return OK


def _archive(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        packed = call(client, "WorkbenchArchive", {"workbench_id": workbench["id"]}, endless=True)
    freed = f"{size(workbench['disk_bytes'])} are {size(packed['size_bytes'])} now"
    say(f"Archived {line(workbench['name'])}: {freed}.")
    return OK


def _unarchive(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        call(client, "WorkbenchUnarchive", {"workbench_id": workbench["id"]}, endless=True)
    say(f"Unpacked {line(workbench['name'])}.")
    return OK


def _delete(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench = find_workbench(client, arguments.workbench)
        if not arguments.yes and not is_interactive():
            raise Stop("deleting needs a yes; --yes gives it", CONFIRMATION_NEEDED)
        if not arguments.yes and not ask(f"Delete {workbench['name']} with its log and files?"):
            raise Stop("nothing was deleted", CONFIRMATION_NEEDED)
        call(client, "WorkbenchDelete", {"workbench_id": workbench["id"]})
    say(f"Deleted {line(workbench['name'])}.")
    return OK


def _render_files(arguments: argparse.Namespace) -> Sequence[str]:
    if not arguments.files:
        raise Stop(f"which files? kbd wb {arguments.action} WB FILE...", USAGE)
    files: Sequence[str] = arguments.files
    return files
