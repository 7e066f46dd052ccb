"""`kbd storage`: what takes the disk, what goes by itself, and when."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.exits import OK
from kbd.cli.link import call, connect
from kbd.cli.terminal import counted, format_time, line, render_table, say, size

__all__ = ["command", "render_storage"]

SHOWN = 20
"""How many workbenches are listed, where nothing else is asked for."""

MAX_SHOWN = 1000
"""How many at most; who wants all asks the method page by page."""

_SHARES = {
    "logs": "logs of workbenches",
    "blobs": "file versions",
    "published": "published files",
    "caches": "drafts, snapshots, caches",
    "archives": "archives",
    "landed": "copies of landed files",
    "daemon": "the daemon's own log",
    "index": "the index",
}


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd storage` and return what runs it."""
    parser.epilog = """\
examples:
  kbd storage                 what takes how much, what goes when
  kbd storage --limit 100     the 100 workbenches that take most
  kbd storage --json | python -m json.tool

To make room: `kbd prune`. What goes by itself is set by [retention] in
settings.toml, and per folder by `kbd watch add --archive-after`."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "--limit", type=_count, default=SHOWN, metavar="N",
        help=f"list N workbenches, those that take most (default: {SHOWN})",
    )  # fmt: skip
    return _storage


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) <= MAX_SHOWN:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text} is no number from 1 to {MAX_SHOWN}")


def _storage(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        found = call(client, "StorageGet", {"limit": arguments.limit}, slow=True)
    say(json.dumps(found) if arguments.json else render_storage(found))
    return OK


def render_storage(found: dict[str, Any]) -> str:
    """Return an answer of `StorageGet` for a terminal."""
    return "\n".join(
        (
            f"{size(found['total_bytes'])} on disk{_quota(found['quota'])}",
            *_shares(found),
            *_workbenches(found),
            *_watches(found["watches"]),
            *_rules(found["retention"]),
            *_upcoming(found["upcoming"]),
            *(f"! {line(notice)}" for notice in found["notices"]),
        )
    )


def _quota(quota: dict[str, Any]) -> str:
    told = {
        "below": "",
        "warned": ", which is near",
        "reached": ": new runs and files are refused, and what lands waits",
    }
    if quota["status"] == "none":
        return "; no quota"
    return f" of a quota of {size(quota['quota_bytes'])}{told[quota['status']]}"


def _shares(found: dict[str, Any]) -> Iterator[str]:
    for name, told in _SHARES.items():
        if found["shares"][name]:
            count = f" ({found['archived']} workbenches)" if name == "archives" else ""
            yield f"  {size(found['shares'][name]):>11}  {told}{count}"


def _workbenches(found: dict[str, Any]) -> Iterator[str]:
    rows = [
        (
            f"{each['workbench_id']} ({line(each['name'], 32)})",
            size(each["disk_bytes"]),
            format_time(each["updated_at"]),
            _fate(each),
        )
        for each in found["workbenches"]
    ]
    if rows:
        yield ""
        yield render_table(("workbench", "disk", "changed (UTC)", "goes"), rows)
    if found["total"] > len(rows):
        yield f"and {found['total'] - len(rows)} more"


def _fate(row: dict[str, Any]) -> str:
    if row["status"] == "archived":
        if "remove_at" in row:
            return f"archived, removed from {format_time(row['remove_at'])} on"
        return f"archived, stays: {line(row['held'])}" if "held" in row else "archived"
    if "archive_at" in row:
        return f"archived from {format_time(row['archive_at'])} on"
    return f"stays: {line(row['held'])}" if "held" in row else "stays: no rule says otherwise"


def _watches(watches: list[dict[str, Any]]) -> Iterator[str]:
    rows = [
        (
            f"{each['watch_id']} ({line(each.get('name', 'removed'), 32)})",
            str(each["workbenches"]),
            size(each["disk_bytes"]),
        )
        for each in watches[:SHOWN]
    ]
    if rows:
        yield ""
        yield render_table(("made by watch", "workbenches", "disk"), rows)


def _rules(rules: list[dict[str, Any]]) -> Iterator[str]:
    yield ""
    for rule in rules:
        archive, remove = rule["archive_after_days"], rule["remove_after_days"]
        archived = f"archived after {counted(archive, 'day')}" if archive else "never archived"
        removed = f"archives removed after {counted(remove, 'day')}" if remove else "none removed"
        yield f"{line(rule['name'])}: {archived}, {removed}"


def _upcoming(rows: list[dict[str, Any]]) -> Iterator[str]:
    listed = [
        (
            format_time(each["due_at"]),
            each["action"],
            f"{each['workbench_id']} ({line(each['name'], 24)})",
            size(each["size_bytes"]),
            each["reason"],
        )
        for each in rows[:SHOWN]
    ]
    if listed:
        yield ""
        yield render_table(("from (UTC)", "next", "workbench", "takes", "by"), listed)
