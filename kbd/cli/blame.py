"""`kbd blame`: show who touched a place of a file: message, run, item, call, values."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.diff_view import render_value
from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import format_time, line, note, say
from kbd.client.blocking import Client

__all__ = ["command", "find_holder", "render_step"]

MAX_NAMED = 20
"""How many workbenches that have the same file are named."""

_PEOPLE = {
    "added": "came with the file that a person added",
    "adopted": "a person changed the file in published/",
    "removed": "a person deleted the file in the draft",
    "forked": "was there when the workbench was forked",
}


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd blame` and return what runs it."""
    parser.epilog = """\
examples:
  kbd blame FILE 'Sheet1!B7'                  in the only workbench that has this file
  kbd blame taxes FILE 'paragraph 3'
  kbd blame taxes FILE 'slide 2, Title 1'
  kbd blame taxes FILE 'line 12' --json

The newest step comes first. It goes back to the call that added the place, or to the file that a
person added; the draft's version counts if there is one. `kbd show WB SEQ` has an event in full."""
    parser.add_argument(
        "where", nargs="+", metavar="[WB] FILE PLACE",
        help="a workbench, which may be left out; a file of it; a place in that file",
    )  # fmt: skip
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most N steps")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _blame


def find_holder(client: Client, path: str) -> str:
    """Return the id of the only workbench that has a file.

    Raises:
        Stop: None has it, or several do.
    """
    found = call(client, "WorkbenchList", {"file": path, "limit": MAX_NAMED})["workbenches"]
    if len(found) == 1:
        return str(found[0]["id"])
    if not found:
        raise Stop(f"no workbench has a file {path}; `kbd wb list` shows all", FAILED)
    named = ", ".join(f"{each['id']} ({line(each['name'])})" for each in found)
    raise Stop(f"several workbenches have a file {path}; name one first: {named}", FAILED)


def render_step(step: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about a step: what it did, who did it, what for."""
    kind = step["kind"]
    if kind in _PEOPLE:
        value = f"{_render_value(step['after'])}  " if "after" in step else ""
        yield f"{value}{_PEOPLE[kind]}"
        yield f"  event {step['seq']}, {format_time(step['ts'])}"
        return
    yield _render_values(step)
    if step.get("run_id"):
        item = f", item {step['item']}" if step.get("item") else ""
        text = f' "{line(step["item_text"], 100)}"' if step.get("item_text") else ""
        yield f"  run {step['run_id']}{item}{text}"
    else:
        yield "  a client's own call"
    entry = f"entry {step['entry_id']}, " if step.get("entry_id") else ""
    tool = step.get("tool") or "a tool"
    yield f"  {tool} ({entry}event {step['seq']}, {format_time(step['ts'])})"
    if step.get("message"):
        yield f'  for the message "{line(step["message"], 100)}"'


def _render_values(step: dict[str, Any]) -> str:
    if "moved_from" in step:
        return f"moved from {line(step['moved_from']['title'])}"
    if "before" in step and "after" in step:
        return f"{_render_value(step['before'])} -> {_render_value(step['after'])}"
    if "after" in step:
        return f"added: {_render_value(step['after'])}"
    return "changed" if "before" not in step else f"was {_render_value(step['before'])}"


def _render_value(value: Any) -> str:
    return line(render_value(value), 100)


def _blame(arguments: argparse.Namespace) -> int:
    if len(arguments.where) not in (2, 3):
        raise Stop("which? kbd blame [WB] FILE PLACE", USAGE)
    *workbench, path, place = arguments.where
    with connect(arguments) as client:
        if workbench:
            workbench_id = str(find_workbench(client, workbench[0])["id"])
        else:
            workbench_id = find_holder(client, path)
        params = {
            "workbench_id": workbench_id, "path": path, "place": place, "limit": arguments.limit,
        }  # fmt: skip
        found = call(client, "ReviewGetBlame", params, slow=True)
    if arguments.json:
        say(json.dumps(found))
        return OK
    say(f"{line(found['place']['title'])} in {line(found['path'])}")
    for step in found["chain"]:
        say()
        for text in render_step(step):
            say(text)
    if not found["complete"]:
        note("This is not all: older steps are left out, or a version between cannot be read.")
    return OK
