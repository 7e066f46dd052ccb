"""`kbd verify`: whether the log and every file version that it names are whole."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import FAILED, OK
from kbd.cli.link import call, connect
from kbd.cli.names import find
from kbd.cli.terminal import line, say

__all__ = ["command"]

HEAD_DIGITS = 16
"""How much of the chain's hash is shown: enough to compare by eye; --json has all of it."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd verify` and return what runs it."""
    parser.epilog = """\
examples:
  kbd verify          every workbench, and the daemon's own log
  kbd verify taxes
  kbd verify --json

Reads everything again and compares checksums, sequence, hash chain and file versions. Exits with 1
if something is damaged, and says which file at which byte."""
    parser.add_argument("workbench", nargs="?", metavar="WB", help="its id or name; else all")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _verify


def _verify(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        if arguments.workbench:
            workbench = find(client, arguments.workbench)
            logs = [(str(workbench["id"]), str(workbench["name"]))]
        else:
            listed = call(client, "WorkbenchList")["workbenches"]
            logs = [(str(each["id"]), str(each["name"])) for each in listed]
            logs.append(("daemon", "the daemon's own"))
        found = {
            log: call(client, "LogVerify", {"workbench_id": log}, slow=True) for log, _ in logs
        }
    if arguments.json:
        say(json.dumps(found))
    else:
        for log, name in logs:
            say(_told(log, line(name, 40), found[log]))
    return OK if all(each["ok"] for each in found.values()) else FAILED


def _told(log: str, name: str, verified: dict[str, Any]) -> str:
    if verified["ok"]:
        return (
            f"{log} ({name}) whole: {verified['seq']} events, {verified['frames']} frames, "
            f"{verified['blobs']} blobs, head {verified['head'][:HEAD_DIGITS]}"
        )
    faults = [
        f"  {each['kind']}: {each['file']}, byte {each['offset']}: {each['message']}"
        for each in verified["faults"]
    ]
    return "\n".join([f"{log} ({name}) DAMAGED:", *faults])
