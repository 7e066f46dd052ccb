"""`kbd prune`: archive what is old and done, remove old archives; what is held stays."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.ages import seconds
from kbd.cli.exits import CONFIRMATION_NEEDED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.terminal import ask, counted, is_interactive, line, note, render_table, say, size

__all__ = ["command", "render_pruned"]

SHOWN = 20
"""How many workbenches of one kind are listed; --json has up to a thousand."""

EPILOG = """\
examples:
  kbd prune --older 90d --dry-run        what would be archived, and why others stay
  kbd prune --older 90d                  asks first
  kbd prune --older 365d --archives --yes   removes archives that old, too

An archived workbench is opened again when it is asked for. What a person has not
seen stays: drafts, failures, results that nobody published or discarded."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd prune` and return what runs it."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--older", type=seconds, required=True, metavar="AGE", help="as 90d, 12h or 4w"
    )
    parser.add_argument(
        "--archives", action="store_true", help="remove archives that were made so long ago, too"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _prune


def _prune(arguments: argparse.Namespace) -> int:
    params = {"older_s": arguments.older, "archives": arguments.archives}
    with connect(arguments) as client:
        if not (arguments.dry_run or arguments.yes):
            if not is_interactive():
                msg = "pruning needs a yes; --yes gives it, --dry-run says what would be done"
                raise Stop(msg, CONFIRMATION_NEEDED)
            would = call(client, "StoragePrune", {**params, "dry_run": True}, slow=True)
            note(render_pruned(would))
            if not (would["archived"] or would["removed"]):
                return OK
            if not ask("Do that?"):
                raise Stop("nothing was done", CONFIRMATION_NEEDED)
        # Packing thousands takes as long as it takes.
        done = call(client, "StoragePrune", {**params, "dry_run": arguments.dry_run}, endless=True)
    say(json.dumps(done) if arguments.json else render_pruned(done))
    return OK


def render_pruned(pruned: dict[str, Any]) -> str:
    """Return an answer of `StoragePrune` for a terminal."""
    return "\n".join((*_listed(pruned), *_totals(pruned)))


def _listed(pruned: dict[str, Any]) -> Iterator[str]:
    for action in ("archive", "remove"):
        rows = [row for row in pruned["rows"] if row["action"] == action]
        cells = [
            (
                f"{row['workbench_id']} ({line(row['name'], 32)})",
                size(row["size_bytes"]),
                row["reason"],
            )
            for row in rows[:SHOWN]
        ]
        if cells:
            yield render_table((action, "takes", "because"), cells)
        count = pruned["archived" if action == "archive" else "removed"]
        if count > len(cells):
            yield f"  … and {count - len(cells)} more"


def _totals(pruned: dict[str, Any]) -> Iterator[str]:
    would = "would be " if pruned["dry_run"] else ""
    archived, removed = pruned["archived"], pruned["removed"]
    noun, verb = ("workbench", "takes") if archived == 1 else ("workbenches", "take")
    freed = "" if pruned["dry_run"] else f", which {verb} {size(pruned['archive_bytes'])} now"
    took = size(pruned["archived_bytes"])
    yield f"{archived} {noun} of {took} {would}archived{freed if archived else ''}"
    if removed:
        yield f"{counted(removed, 'archive')} of {size(pruned['removed_bytes'])} {would}removed"
    for reason, count in pruned["kept"].items():
        yield f"{count} kept: {line(reason)}"
    if pruned["dry_run"]:
        yield "Nothing was done."
