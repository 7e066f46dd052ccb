"""`kbd status`: whether the daemon runs, and what it does. It must stay cheap: scripts poll it."""

import argparse
import json
from collections.abc import Callable

from kbd.cli.exits import OK, UNREACHABLE, Stop
from kbd.cli.link import call, connect
from kbd.cli.place import home_of
from kbd.cli.terminal import say

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd status` and return what runs it."""
    parser.epilog = """\
examples:
  kbd status
  kbd status --json | python -m json.tool

Exits with 69 if no daemon answers."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _status


def _status(arguments: argparse.Namespace) -> int:
    try:
        client = connect(arguments)
    except Stop as stop:
        if arguments.json and stop.code == UNREACHABLE:
            say(json.dumps({"running": False, "home": home_of(arguments.home)}))
            return UNREACHABLE
        raise
    with client:
        info = call(client, "EngineGetInfo")
        workbenches = call(client, "WorkbenchList")["workbenches"]
        runs = [run for run in call(client, "RunList")["runs"] if run["status"] == "running"]
        watches = call(client, "WatchList")["watches"]
    if arguments.json:
        active = {"runs": [run["run_id"] for run in runs], "watches": watches}
        say(json.dumps({"running": True, **info, **active}))
        return OK
    say(f"kbd {info['engine_version']} is running")
    say(f"  home         {info['home']}")
    say(f"  process      {info['pid']}, up {_duration(info['uptime_s'])}, on {info['backend']}")
    drafts = sum(1 for each in workbenches if each["has_draft"])
    say(f"  workbenches  {len(workbenches)}" + (f", {drafts} with a draft" if drafts else ""))
    say(f"  runs         {', '.join(run['run_id'] for run in runs) or 'none'}")
    if watches:
        failed = sum(each["failed"] for each in watches)
        still = sum(1 for each in watches if each["status"] != "active")
        told = [f"{failed} failed files, see `kbd watch failed`"] if failed else []
        told += [f"{still} not active"] if still else []
        say(f"  watches      {', '.join([str(len(watches)), *told])}")
    return OK


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    told = [f"{count} {unit}" for count, unit in parts if count]
    return " ".join(told[:2]) or "0 s"
