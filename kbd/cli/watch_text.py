"""Text of watched folders: a list, one in full, what failed, what would run."""

import shlex
import textwrap
from typing import Any

from kbd.cli.terminal import format_time, line, render_table, size

__all__ = ["MAX_LISTED", "render_dry_run", "render_failed", "render_list", "render_watch"]

MAX_RECENT = 10
"""How many outcomes are shown; all are in `kbd log daemon`."""

MAX_LISTED = 20
"""How many files, runs or reasons of one kind are shown; `--json` has more."""

WIDTH = 80
"""Columns of a terminal."""

_FAILED_OPTIONS = ("--retry", "--dismiss")


def render_list(watches: list[dict[str, Any]]) -> str:
    """Return a line a watch."""
    rows = [
        (
            each["watch_id"],
            line(each["name"], 24),
            each["status"],
            str(each["landed"]),
            str(each["waiting"] + each["running"]),
            str(each["failed"]),
        )
        for each in watches
    ]
    return render_table(("id", "name", "status", "landed", "open", "failed"), rows)


def render_watch(watch: dict[str, Any]) -> str:
    """Return a watch in full: its rule, what is not done, what became of the rest."""
    parts = [f"{line(watch['name'])} ({watch['watch_id']})", *_render_rule(watch)]
    if watch["landings"]:
        rows = [
            (str(each["landing_id"]), each["path"], size(each["size_bytes"]), _render_stage(each))
            for each in watch["landings"][:MAX_LISTED]
        ]
        parts += ["", render_table(("no.", "not done", "size", "stage"), rows)]
        parts += _render_more(watch["waiting"] + watch["running"] + watch["failed"] - MAX_LISTED)
    if watch["recent"]:
        results = watch["rule"].get("deliver_to", "")
        rows = [
            (
                format_time(each["ended_at"]),
                _render_paths(each["paths"]),
                each["outcome"],
                _render_outcome(each, results),
            )
            for each in watch["recent"][:MAX_RECENT]
        ]
        parts += ["", render_table(("ended (UTC)", "files", "outcome", ""), rows)]
    return "\n".join(parts)


def render_failed(found: dict[str, Any]) -> str:
    """Return what failed, why and what helps, and which watches stand still.

    Files that failed together, or of one watch for the same reason, are told together.
    """
    groups: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for row in found["failed"]:
        alike = (row["watch_id"], row.get("code"), row.get("message"), row.get("workbench_id"))
        groups.setdefault(alike, []).append(row)
    told = list(groups.values())[:MAX_LISTED]
    parts = [text for group in told for text in _render_failed(group)]
    parts += _render_more(found["total"] - sum(len(group) for group in told))
    for watch in found["suspended"]:
        named = f"{line(watch['name'], 32)} ({watch['watch_id']})"
        parts += [
            f"{named} is {watch['status']} and starts no runs",
            _wrap(watch.get("reason", ""), "    "),
            f"    - kbd watch resume {watch['watch_id']}",
        ]
    return "\n".join(parts) or "Nothing failed."


def _render_failed(group: list[dict[str, Any]]) -> list[str]:
    first, watch_id = group[0], group[0]["watch_id"]
    parts = [
        f"{row['landing_id']}  {line(row['path'], 60)} ({size(row['size_bytes'])}), "
        f"landed {format_time(row['landed_at'])} in {line(row['watch_name'], 32)}"
        for row in group[:MAX_LISTED]
    ]
    parts += _render_more(len(group) - MAX_LISTED)
    code = f"{first['code']}: " if "code" in first else ""
    parts.append(_wrap(f"{code}{first.get('message', '')}", "    "))
    actions = first["actions"]
    if len(group) > 1:
        # What is about one of them is told for all of them.
        actions = [each for each in actions if not each.endswith(f" {first['landing_id']}")]
        numbers = ",".join(str(row["landing_id"]) for row in group[:MAX_LISTED])
        actions += [f"kbd watch failed {watch_id} {do} {numbers}" for do in _FAILED_OPTIONS]
    return [*parts, *(f"    - {line(action)}" for action in actions)]


def render_dry_run(tested: dict[str, Any]) -> str:
    """Return what would run, what would not and why."""
    count = tested["run_count"]
    model = f" with {line(tested['model_id'])}" if tested["model_id"] else ""
    parts = [f"{count} {'run' if count == 1 else 'runs'} would start{model if count else ''}."]
    parts += [f"  {_render_paths(run['paths'])}" for run in tested["runs"][:MAX_LISTED]]
    parts += _render_more(count - MAX_LISTED)
    others = [each for each in tested["files"] if each["verdict"] != "run"]
    if others:
        rows = [(each["path"], each["verdict"], each.get("reason", "")) for each in others]
        parts += ["", render_table(("comes to no run", "because", ""), rows[:MAX_LISTED])]
        left = {name: count for name, count in tested["counts"].items() if name != "run"}
        if sum(left.values()) > MAX_LISTED:
            parts.append(f"  … of {sum(left.values())}{_render_counts(left)}")
    parts += [_wrap(problem, "  ! ") for problem in tested["problems"]]
    return "\n".join([*parts, "Nothing was done."])


def _render_rule(watch: dict[str, Any]) -> list[str]:
    rule, limits, failure = watch["rule"], watch["rule"]["limits"], watch["rule"]["on_failure"]
    noticed = {"system": "", "scan": " (looked through again and again)", "missing": " (missing)"}
    each = f"one for all that land within {rule['quiet_s']:g} s"
    results = "wait for review" if rule["publish"] == "review" else "are published by the run"
    again = f"tried again: {failure['retries']}, from {failure['wait_s']:g} s on; then "
    again, pauses = again if failure["retries"] else "", failure["then"] == "pause"
    consent = rule.get("consent")
    told = {
        "folder": rule["folder"] + noticed[watch["hints"]],
        "files": " ".join(rule["patterns"]),
        "prompt": rule["prompt"],
        "model": rule.get("model_id", "the default one when a run starts"),
        "runs": "one a file" if rule["mode"] == "file" else each,
        "changes": results,
        "results": rule.get("deliver_to", "stay in the workbench"),
        "limits": f"runs an hour: {limits['runs_per_hour']}, of one path: "
        f"{limits['runs_per_path_hour']}; rules in a chain: {limits['chain_depth']}",
        "failure": f"{again}put aside{', and the watch paused' if pauses else ''}",
        "command": shlex.join(rule["on_outcome"]) or "none",
        "consent": f"what lands may go to {consent['model_id']}" if consent else "none",
        "status": _render_status(watch),
        "landed": f"{watch['landed']}{_render_counts(watch['outcomes'])}",
    }
    return [_wrap(text, f"  {name:<8} ") for name, text in told.items()]


def _render_status(watch: dict[str, Any]) -> str:
    return f"{watch['status']}: {watch['reason']}" if "reason" in watch else str(watch["status"])


def _render_counts(outcomes: dict[str, int]) -> str:
    told = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    return f" ({told})" if told else ""


def _render_stage(landing: dict[str, Any]) -> str:
    match landing["stage"]:
        case "retrying":
            return f"again at {format_time(landing['retry_at'])}: {line(landing.get('code', ''))}"
        case "parked":
            return f"failed: {line(landing.get('code', ''))}"
        case stage:
            return str(stage)


def _render_outcome(outcome: dict[str, Any], results: str) -> str:
    """Return the copies, by their paths below the folder for results; or why, or where."""
    if outcome["delivered"]:
        return "-> " + ", ".join(path.removeprefix(f"{results}/") for path in outcome["delivered"])
    return str(outcome.get("code") or outcome.get("workbench_id", ""))


def _render_paths(paths: list[str]) -> str:
    """Return the first of several paths, and how many there are."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"{line(paths[0], 60)}{more}" if paths else ""


def _wrap(text: str, begin: str) -> str:
    """Return a text in lines of at most 80 columns, all but the first indented like the first."""
    # Not terminal.wrap, which breaks long words: paths and commands are there to be copied.
    return textwrap.fill(
        line(text, 1000),
        WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _render_more(count: int) -> list[str]:
    return [f"  … and {count} more"] if count > 0 else []
