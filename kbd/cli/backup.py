"""`kbd backup`: copy all logs and file versions to a folder, while work goes on."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbd.cli.exits import FAILED, OK
from kbd.cli.link import call, connect
from kbd.cli.terminal import line, note, render_table, say, size

__all__ = ["command"]

MAX_SHOWN = 20
"""How many logs are listed; --json has all of them."""

HEAD_DIGITS = 16
"""How much of the chain's hash is shown: enough to compare by eye; --json has all of it."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd backup` and return what runs it."""
    parser.epilog = """\
examples:
  kbd backup ~/backups/2026-11-22
  kbd verify ~/backups/2026-11-22
  kbd restore ~/backups/2026-11-22 --home ~/kbd-again

Runs and clients go on meanwhile. Each log is in the backup up to what was recorded when its turn
came, with every file version that it names, and the whole is checked before it gets its name.
Settings are not in it: they may hold keys. Ctrl-C ends the command, and the backup goes on.
What is damaged is copied as it is and named; then it exits with 1."""
    parser.add_argument("target", metavar="TARGET", help="a new folder, or an empty one")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _backup


def _backup(arguments: argparse.Namespace) -> int:
    target = Path(arguments.target).expanduser().absolute()
    with connect(arguments) as client:
        made = call(client, "BackupCreate", {"target": str(target)}, endless=True)
    if arguments.json:
        say(json.dumps(made))
        return _exit_code(made)
    logs: list[dict[str, Any]] = made["logs"]
    rows = [
        (_describe_log(log), str(log["seq"]), str(log["blobs"]), str(log["head"])[:HEAD_DIGITS])
        for log in logs[:MAX_SHOWN]
    ]
    say(render_table(("log", "events", "file versions", "head"), rows))
    if len(logs) > MAX_SHOWN:
        say(f"and {len(logs) - MAX_SHOWN} more logs")
    for left in made["left_out"]:
        note(f"not in it: {line(left, 300)}")
    packed = f", {len(archives)} archives" if (archives := made.get("archives")) else ""
    say(f"{target}: {len(logs)} logs{packed}, {size(made['size_bytes'])}, checked.")
    return _exit_code(made)


def _exit_code(made: dict[str, Any]) -> int:
    # The backup is made all the same: a job that runs it is to look at the home.
    return FAILED if made.get("damaged") else OK


def _describe_log(log: dict[str, Any]) -> str:
    if log["workbench_id"] == "daemon":
        return "the daemon's own"
    return f"{log['workbench_id']} ({line(log['name'], 40)})"
