"""`kbd rebase`: apply the draft's edits to what somebody changed in published/ meanwhile."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kbd.cli.diff_view import render_value
from kbd.cli.exits import FAILED, OK
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import counted, line, note, say

__all__ = ["command"]

MAX_LISTED = 200
"""Conflicts that are listed; --json has all."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd rebase` and return what runs it."""
    parser.epilog = """\
examples:
  kbd rebase taxes                 all files of the draft that changed in published/
  kbd rebase taxes summary-2025    only this one

Where a published file was changed since the draft began, a publish is refused. This applies the
draft's edits again, to what is published now, and makes a new draft of it to review. Where both
changed the same place nothing is done: every such place is named, and the draft stays as it was."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="only these files")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _rebase


def _rebase(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        params: dict[str, Any] = {"workbench_id": workbench_id}
        if arguments.paths:
            params["paths"] = list(arguments.paths)
        found: dict[str, Any] = call(client, "DraftRebase", params, slow=True)
    code = FAILED if found["conflicts"] else OK
    if arguments.json:
        say(json.dumps(found))
        return code
    named = line(arguments.workbench)
    if found["conflicts"]:
        for text in _conflict_lines(found["conflicts"]):
            say(text)
        several = counted(len(found["conflicts"]), "conflict")
        note(f"Nothing was rebased for {several}; the draft is as it was. What can be done:")
        note("  - rebase or publish the other files by name")
        note(f"  - `kbd publish {named} --keep-both` keeps both versions of a file")
        note("  - change these places back in published/, or have the draft changed, and try again")
        return code
    for text in _done_lines(found):
        say(text)
    if found["rebased"] and found["draft_id"] is not None:
        say(f"The draft is a new one: `kbd review {named}` shows what it changes now.")
    elif found["rebased"]:
        say("No difference is left: there is no draft any more.")
    else:
        say("Nothing of the draft was changed in published/ since it began.")
    return code


def _done_lines(found: Mapping[str, Any]) -> Iterator[str]:
    for each in found["rebased"]:
        name = line(each["path"])
        if each["in_draft"]:
            yield f"rebased {name}: {counted(each['calls'], 'edit')} applied to what is published"
        else:
            yield f"{name} is published as the draft has it: it is no part of the draft any more"
    if found["rebased"]:
        for path in found["unchanged"]:
            yield f"unchanged in published/: {line(path)}"


def _conflict_lines(conflicts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    path = ""
    for conflict in conflicts[:MAX_LISTED]:
        if conflict["path"] != path:
            path = conflict["path"]
            yield line(path)
        title = line(conflict["place"]["title"])
        reason = line(conflict["reason"])
        yield f"  {reason}" if title == line(path) else f"  {title}: {reason}"
        if "ours" in conflict:
            yield f"      was        {_value(conflict.get('before'))}"
            yield f"      draft      {_value(conflict.get('ours'))}{_maker(conflict)}"
            yield f"      published  {_value(conflict.get('theirs'))}"
        elif _maker(conflict):
            yield f"     {_maker(conflict)}"
    if len(conflicts) > MAX_LISTED:
        yield f"  … {counted(len(conflicts) - MAX_LISTED, 'more conflict')}, see --json"


def _value(value: Any) -> str:
    return "(nothing)" if value is None else render_value(value)


def _maker(conflict: Mapping[str, Any]) -> str:
    """Return what made the draft's change, in brackets."""
    if "seq" not in conflict:
        return ""
    words = []
    if "run_id" in conflict:
        words.append(f"run {str(conflict['run_id']).rpartition('-')[2]}")
    if "item" in conflict:
        words.append(f"item {conflict['item']}")
    if "tool" in conflict:
        words.append(line(conflict["tool"]))
    words.append(f"event {conflict['seq']}")
    return f"  ({', '.join(words)})"
