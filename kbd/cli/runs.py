"""`kbd runs`: list the runs of a workbench or of all, the newest first."""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from kbd.cli.exits import FAILED, OK
from kbd.cli.link import connect
from kbd.cli.names import find_workbench
from kbd.cli.pages import add_limit, newest_rows, render_total
from kbd.cli.terminal import (
    columns,
    counted,
    duration,
    format_time,
    line,
    note,
    render_table,
    say,
)

__all__ = ["command"]

DEFAULT_ROWS = 50
"""How many are shown without --limit."""

STATUSES = ("running", "finished", "declined", "failed", "cancelled", "interrupted")

DEFAULT_COLUMNS = 200
"""Columns where stdout is no terminal."""

REQUEST_COLUMNS = 24
"""The least that is shown of a request in the row of its run; else it has a line of its own."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd runs` and return what runs it."""
    parser.epilog = """\
examples:
  kbd runs
  kbd runs taxes
  kbd runs --limit 500                 the newest 500, not the newest 50
  kbd runs --search invoice            with this word in request, workbench or error
  kbd runs --status failed --json | python -m json.tool

Items are told as done/all, and with `!` how many failed. Tokens are those that
went in and came out. The cost is in US dollars by the prices of the model; `$-`
if they are unknown or it is free."""
    parser.add_argument("workbench", nargs="?", metavar="WB", help="its id or name; else all")
    parser.add_argument(
        "--status", choices=STATUSES, action="append", default=[],
        help="only those that stand so; may be given more than once",
    )  # fmt: skip
    parser.add_argument("--search", metavar="WORDS", default="", help="only those with these words")
    add_limit(parser, "runs")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on stdout; all runs without --limit"
    )
    return _runs


def _runs(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        asked: dict[str, Any] = {"status": arguments.status, "query": arguments.search}
        if arguments.workbench:
            asked["workbench_id"] = find_workbench(client, arguments.workbench)["id"]
        most = arguments.limit or (sys.maxsize if arguments.json else DEFAULT_ROWS)
        found = newest_rows(client, "RunList", asked, "runs", most)
    runs = found["runs"][::-1]
    if arguments.json:
        say(json.dumps({**found, "runs": runs}))
    elif runs:
        say(_render_runs(runs, columns(DEFAULT_COLUMNS), datetime.now(UTC)))
        for told in render_total(len(runs), found["total"], "runs"):
            say(told)
    else:
        is_filtered = bool(arguments.status or arguments.search)
        say("No run is like that." if is_filtered else "There are no runs yet.")
    if found["unread"]:
        note(f"{counted(found['unread'], 'log')} not read yet since kbd found them: ask again.")
    damaged = {run["workbench_id"]: run["damage"] for run in runs if "damage" in run}
    for workbench_id, damage in damaged.items():
        note(f"workbench {workbench_id} is damaged: {line(damage)}")
    return FAILED if damaged else OK


_HEADER = ("run", "status", "phase", "items", "started (UTC)", "took")


def _render_runs(runs: list[dict[str, Any]], width: int, now: datetime) -> str:
    """Return the table; where it is too narrow for all of a run, each has a second line."""
    rows = [_render_row(run, now) for run in runs]
    header = (*_HEADER, "workbench", "model", "in", "out", "cost", "request")
    wide = [(*row, *_render_details(run), "") for row, run in zip(rows, runs, strict=True)]
    # The last column is blank in these rows; what its heading takes is room for it.
    left = width - len(render_table(header, wide).partition("\n")[0]) + len(header[-1])
    if left >= REQUEST_COLUMNS:
        whole = zip(wide, runs, strict=True)
        return render_table(header, [(*row[:-1], line(run["request"], left)) for row, run in whole])
    first, *lines = render_table(_HEADER, rows).split("\n")
    output = [first]
    for row, run in zip(lines, runs, strict=True):
        name, model, tokens_in, tokens_out, cost = _render_details(run)
        about = f"{name}, {model}, {tokens_in} in, {tokens_out} out, {cost}: {run['request']}"
        output += [row, f"    {line(about, width - 4)}"]
    return "\n".join(output)


def _render_row(run: dict[str, Any], now: datetime) -> tuple[str, ...]:
    ended = datetime.fromisoformat(run["ended_at"]) if "ended_at" in run else now
    took = (ended - datetime.fromisoformat(run["started_at"])).total_seconds()
    return (
        run["run_id"],
        _render_status(run),
        run["phase"] or "",
        _render_items(run["items"]),
        format_time(run["started_at"]),
        duration(max(took, 0.0)),  # the clock may have been set back
    )


def _render_status(run: dict[str, Any]) -> str:
    if "damage" in run:
        return "damaged"
    return f"{run['status']}, undone" if run.get("undone") else str(run["status"])


def _render_items(items: list[dict[str, Any]]) -> str:
    """Return how many items are done, of how many; and how many failed, if some did."""
    if not items:
        return ""
    states = [item["state"] for item in items]
    failed = f" !{states.count('failed')}" if "failed" in states else ""
    return f"{states.count('done')}/{len(items)}{failed}"


def _render_details(run: dict[str, Any]) -> tuple[str, ...]:
    usage = run["usage"]
    return (
        line(run["workbench_name"], 24),
        line(run["model_id"], 32),
        f"{usage.get('input_tokens', 0):,}",
        f"{usage.get('output_tokens', 0):,}",
        f"${run['cost']:.4f}" if run["cost"] else "$-",
    )
