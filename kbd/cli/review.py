"""`kbd review`: show the change set of the draft as a table, or write it as one HTML page."""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.new_file import check_new_file
from kbd.cli.terminal import counted, line, note, render_table, say, size
from kbd.client.blocking import Client

__all__ = ["changed_paths", "command", "render_changes"]


def render_changes(changes: list[dict[str, Any]]) -> str:
    """Render the changes as a table, each warning below it."""
    if not changes:
        return "No changes."
    rows = [
        (
            str(change["change_type"]),
            str(change["path"]),
            _render_sizes(change),
            _render_ranges(change.get("items") or ()),
        )
        for change in changes
    ]
    warnings = [
        f"  ! {line(str(change['path']))}: {line(str(warning))}"
        for change in changes
        for warning in change.get("warnings") or ()
    ]
    return "\n".join([render_table(("change", "file", "size", "items"), rows), *warnings])


def changed_paths(changes: list[dict[str, Any]]) -> list[str]:
    """Return the files that exist with new content after a publish."""
    return [str(each["path"]) for each in changes if each["change_type"] != "deleted"]


def _render_ranges(items: Sequence[int]) -> str:
    """Return the numbers, neighbors as a range: 1-3, 5."""
    ranges: list[list[int]] = []
    for item in sorted(items):
        if ranges and item == ranges[-1][-1] + 1:
            # Only the ends are kept: [3] becomes [3, 4], and that [3, 5].
            ranges[-1][1:] = [item]
        else:
            ranges.append([item])
    return ", ".join("-".join(str(end) for end in ends) for ends in ranges)


def _render_sizes(change: dict[str, Any]) -> str:
    before, after = change.get("size_before"), change.get("size_bytes")
    match change["change_type"]:
        case "deleted":
            return "" if before is None else f"was {size(before)}"
        case "modified" if before is not None:
            return f"{size(before)} -> {size(after or 0)}"
        case _:
            return size(after or 0)


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd review` and return what runs it."""
    parser.epilog = """\
examples:
  kbd review taxes
  kbd review taxes --json
  kbd review taxes --html changes.html   one page that opens offline, with every change"""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--html", metavar="FILE", help="write every change as one page")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _review


def _review(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        if arguments.html is not None:
            return _write_page(client, workbench_id, arguments)
        found = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})
    if arguments.json:
        say(json.dumps(found))
        return OK
    if found["draft_id"] is None:
        say("There is no draft.")
        return OK
    if found.get("draft_summary"):
        say(f"{found['draft_summary']}\n")
    say(render_changes(found["changes"]))
    note(f"Publish: kbd publish {workbench_id}   Throw away: kbd discard {workbench_id}")
    return OK


def _write_page(client: Client, workbench_id: str, arguments: argparse.Namespace) -> int:
    """Have the daemon write the page to a new file.

    Raises:
        Stop: The file exists, or cannot be written.
        RequestRefused: There is no draft.
    """
    check_new_file(arguments.html)
    # The daemon writes it, and works in another folder.
    asked = {"workbench_id": workbench_id, "target": os.path.abspath(arguments.html)}
    made = call(client, "ReviewGetHtml", asked, slow=True)
    if arguments.json:
        say(json.dumps(made))
    else:
        files = counted(made["files"], "file")
        say(f"{arguments.html}: {files}, {size(made['size_bytes'])}")
    return OK
