"""`kbd status`: whether the daemon runs, what it does, and what takes how much disk.

It must stay cheap: scripts poll it.
"""

import argparse
import json
from collections.abc import Callable

from kbd.cli.exits import FAILED, OK, UNREACHABLE, Stop
from kbd.cli.link import call, connect, resolve_home
from kbd.cli.terminal import duration, line, render_table, say, size

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["command"]

MAX_SHOWN = 20
"""How many workbenches are listed, those that take most; --json has all of them."""


_DAY_S = 86_400


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd status` and return what runs it."""
    parser.epilog = """\
examples:
  kbd status
  kbd status --json | python -m json.tool

Exits with 69 if no daemon answers, with 1 if a workbench or the daemon's own
log is damaged. `verified` says within which time all logs and file versions
were read again and compared with their hashes; `kbd verify` does it now."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _status


def _status(arguments: argparse.Namespace) -> int:
    try:
        client = connect(arguments)
    except Stop as stop:
        if arguments.json and stop.code == UNREACHABLE:
            say(json.dumps({"running": False, "home": resolve_home(arguments.home)}))
            return UNREACHABLE
        raise
    with client:
        info = call(client, "EngineGetInfo")
        # Only --json has all of them: scripts poll this, and there may be many.
        largest = {"order": "size", "descending": True}
        if not arguments.json:
            largest["limit"] = MAX_SHOWN
        found = call(client, "WorkbenchList", largest, slow=True)
        runs = call(client, "RunList", {"running": True})["runs"]
        watches = call(client, "WatchList")["watches"]
    disk = _disk_usage(found)
    counts = {name: found[name] for name in ("drafts", "damaged", "unread")}
    is_damaged = bool(counts["damaged"] or info.get("damage"))
    if arguments.json:
        active = {"runs": [run["run_id"] for run in runs], "watches": watches, **counts}
        say(json.dumps({"running": True, **info, **active, "disk": disk}))
        return FAILED if is_damaged else OK
    say(f"kbd {info['engine_version']} is running")
    say(f"  home         {info['home']}")
    for field in ("home_warning", "damage"):
        if warning := info.get(field):
            say(f"               {line(warning, 1000)}")
    for told in info.get("storage_notices", ()):
        say(f"               {line(told, 1000)}")
    say(f"  process      {info['pid']}, up {duration(info['uptime_s'])}, on {info['backend']}")
    told = {
        "drafts": "with a draft",
        "damaged": "damaged, see `kbd wb list --status damaged`",
        "unread": "not read yet",
    }
    parts = [f"{count} {told[name]}" for name, count in counts.items() if count]
    say(f"  workbenches  {', '.join([str(found['total']), *parts])}")
    if scrub := info.get("scrub"):
        say(f"  verified     {_verified(scrub)}")
    if archived := found.get("archived"):
        say(f"  archives     {archived}, {size(found['archived_disk_bytes'])}")
    say(f"  runs         {', '.join(run['run_id'] for run in runs) or 'none'}")
    if watches:
        failed = sum(each["failed"] for each in watches)
        still = sum(1 for each in watches if each["status"] != "active")
        parts = [f"{failed} failed files, see `kbd watch failed`"] if failed else []
        parts += [f"{still} not active"] if still else []
        say(f"  watches      {', '.join([str(len(watches)), *parts])}")
    _print_disk_usage(disk, found["total"])
    return FAILED if is_damaged else OK


def _verified(scrub: "dict[str, Any]") -> str:
    """Say when logs and file versions were verified; when it is made one counts as verified."""
    days = int(scrub["oldest_s"] // _DAY_S) + 1
    if not scrub["days"]:
        return f"only by `kbd verify`, for scrub.days is 0; one not for {_days(days)}"
    if not scrub["overdue"]:
        return f"all within {_days(days)}"
    late = f"{scrub['overdue']} of {scrub['logs']} logs not within {_days(scrub['days'])}"
    return f"{late}, one not for {_days(days)}"


def _days(count: int) -> str:
    return f"{count} day" if count == 1 else f"{count} days"


def _disk_usage(found: "dict[str, Any]") -> "dict[str, Any]":
    """Return what takes how much, in bytes; the workbench that takes most first."""
    rows = [
        {
            "id": each["id"],
            "name": each["name"],
            "events": each["last_seq"],
            "files": each["files"],
            "disk_bytes": each["disk_bytes"],
        }
        for each in found["workbenches"]
    ]
    own, landed = found["daemon_disk_bytes"], found["landed_disk_bytes"]
    return {
        "total_bytes": own + landed + found["disk_bytes"],
        "daemon_bytes": own,
        "landed_bytes": landed,
        "archives": found.get("archived", 0),
        "archives_bytes": found.get("archived_disk_bytes", 0),
        "workbenches": rows,
    }


def _print_disk_usage(disk: "dict[str, Any]", count: int) -> None:
    rows = disk["workbenches"]
    own = [f"{size(disk['daemon_bytes'])} the daemon's log"]
    if disk["landed_bytes"]:
        own.append(f"{size(disk['landed_bytes'])} landed files")
    say(f"  disk         {size(disk['total_bytes'])}, of it {', '.join(own)}")
    if not rows:
        return
    table = [
        (
            f"{row['id']} ({line(row['name'], 40)})",
            str(row["events"]),
            str(row["files"]),
            size(row["disk_bytes"]),
        )
        for row in rows
    ]
    say()
    say(render_table(("workbench", "events", "files", "disk"), table))
    if count > len(rows):
        of_rows = sum(row["disk_bytes"] for row in rows)
        rest = disk["total_bytes"] - disk["daemon_bytes"] - disk["landed_bytes"] - of_rows
        say(f"and {count - len(rows)} more, {size(rest)} together")
