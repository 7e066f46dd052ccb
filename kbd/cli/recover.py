"""`kbd wb recover`: what a discarded draft held, as the draft again or as files in a folder."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import format_time, line, note, render_table, say, size
from kbd.client.blocking import Client

__all__ = ["recover"]

_MARKS = {"added": "+", "modified": "~", "deleted": "-"}

_WHY = {"discard": "discarded", "undo": "undone", "regenerate": "answered anew"}

_MAX_LISTED = 1000


def recover(arguments: argparse.Namespace) -> int:
    """Recover a draft as the arguments of `kbd wb recover` say, or list what can be."""
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        params = {"workbench_id": workbench_id, "limit": _MAX_LISTED}
        found = call(client, "DraftListDiscarded", params, slow=True)
        if arguments.list:
            _list(found["drafts"], arguments)
            return OK
        if not found["drafts"]:
            raise Stop("there is no discarded draft in this workbench", FAILED)
        draft, paths = _chosen_draft(found["drafts"], arguments.files)
        wanted = {
            "workbench_id": workbench_id,
            "draft_id": draft["draft_id"],
            "ended_seq": draft["ended_seq"],
            **({"paths": list(paths)} if paths else {}),
        }
        if arguments.to is not None:
            return _extract(client, wanted, arguments.to)
        _reopen(client, wanted, draft)
    return OK


def _list(drafts: Sequence[Mapping[str, Any]], arguments: argparse.Namespace) -> None:
    if arguments.json:
        say(json.dumps(drafts))
        return
    if not drafts:
        say("There is no discarded draft.")
        return
    rows = [
        (
            each["draft_id"],
            str(each["ended_seq"]),
            f"{_WHY[each['reason']]} {format_time(each['discarded_at'])}",
            _listed_files(each["files"]),
        )
        for each in drafts
    ]
    say(render_table(("draft", "event", "ended (UTC)", "files"), rows))


def _listed_files(files: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(
        f"{_MARKS[file['change_type']]}{line(file['path'])}"
        + (f" ({size(file['size_bytes'])})" if file["change_type"] != "deleted" else "")
        + ("" if file["is_available"] else f" {line(file.get('collected') or 'LOST')}")
        for file in files
    )


def _chosen_draft(
    drafts: Sequence[Mapping[str, Any]], given: Sequence[str]
) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Return the draft that is meant, and the files of it that are named.

    The first argument may name a draft, by its id, the beginning of it, or the event that ended it.

    Raises:
        Stop: Several drafts are meant.
    """
    if not given or any(file["path"] == given[0] for file in drafts[0]["files"]):
        return drafts[0], given
    named, rest = given[0], given[1:]
    by_event = [each for each in drafts if str(each["ended_seq"]) == named]
    meant = by_event or [each for each in drafts if each["draft_id"].startswith(named)]
    if len({each["draft_id"] for each in meant}) > 1:
        ids = ", ".join(dict.fromkeys(str(each["draft_id"]) for each in meant))
        raise Stop(f"several drafts begin with {line(named)}: {ids}", FAILED)
    # One draft that ended more than once: the newest; another one is named by its event.
    return (meant[0], rest) if meant else (drafts[0], given)


def _reopen(client: Client, wanted: Mapping[str, Any], draft: Mapping[str, Any]) -> None:
    marks = {file["path"]: _MARKS[file["change_type"]] for file in draft["files"]}
    done = call(client, "WorkbenchRecover", dict(wanted), slow=True)
    say(f"Draft {done['draft_id']} is the draft again:")
    since = "   changed in published/ since the draft began"
    for path in done["recovered"]:
        is_changed = path in done["changed_since"]
        say(f"  {marks[path]}{line(path)}{since if is_changed else ''}")
    for path in done["already_published"]:
        say(f"  {marks[path]}{line(path)}   left out: just this is published")
    workbench_id = wanted["workbench_id"]
    say(f"Look at it: kbd review {workbench_id}   Publish it: kbd publish {workbench_id}")


def _extract(client: Client, wanted: Mapping[str, Any], directory: str) -> int:
    directory = os.path.abspath(directory)
    params = {**wanted, "destination_dir": directory}
    results = call(client, "WorkbenchRecover", params, slow=True)["extract_results"]
    failed = 0
    for each in results:
        if each["status"] == "extracted":
            say(str(each["final_path"]))
        else:
            failed += 1
            note(f"{line(each['workbench_path'])} was not written: {each.get('reason', '')}")
    if not results:
        note("the draft only deletes files: there is nothing to write")
    return FAILED if failed else OK
