"""`kbd watch`: watch folders, so that runs start by themselves; show what landed and failed."""

import argparse
import json
import shlex
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any

from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.pages import add_limit, all_pages, each_page, newest_rows, render_total
from kbd.cli.readings import add_reading_arguments, reading_params, settle_readings
from kbd.cli.rule_confirmation import confirm_rule, render_acts
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import (
    counted,
    format_time,
    is_interactive,
    line,
    note,
    render_table,
    say,
    size,
)
from kbd.cli.watch_rules import (
    add_retention_arguments,
    add_watch,
    consent_for,
    dry_run,
    find_watch,
    select_failed,
)
from kbd.client.blocking import Client

__all__ = [
    "ACTIONS",
    "MAX_LISTED",
    "command",
    "render_dry_run",
    "render_failed",
    "render_list",
    "render_watch",
]


ACTIONS = ("add", "list", "show", "pause", "resume", "rm", "failed", "test")

EPILOG = """\
examples:
  kbd watch add inbox "total Amount by Shop" --pattern 'sales*' \\
      --publish auto --deliver-to outbox       prints the new watch's id
  kbd watch add inbox --recipe monthly-split   without a model; what does not fit is parked
  kbd watch add inbox "split by Region" --recipe monthly-split --otherwise model
  kbd watch test inbox                         what would run; nothing is done
  kbd watch list
  kbd watch show inbox                         its rule, what waits, what became of files
  kbd watch failed                             what failed, why, and what helps
  kbd watch failed --limit 5                   the newest
  kbd watch failed inbox --retry all
  kbd watch failed inbox --retry 22 --decimal ,   where its table had to be asked about
  kbd watch pause inbox; kbd watch resume inbox
  kbd watch resume inbox --confirm 'command=notify-send kbd'   of a restored home
  kbd watch rm inbox                           what was made stays

A watch is named by its id, the beginning of its id, its name, or its folder."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd watch` and return what runs it."""
    parser.usage = "kbd watch ACTION [FOLDER PROMPT | WATCH] [options]"
    parser.epilog = EPILOG
    parser.add_argument("action", nargs="?", metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("named", nargs="*", metavar="WATCH", help="for add: FOLDER PROMPT")
    parser.add_argument("--json", action="store_true", help="list, show, failed, test as JSON")
    parser.add_argument(
        "--consent", action="store_true", help="add, resume: what lands may go to the model"
    )
    parser.add_argument(
        "--confirm", action="append", metavar="ACT",
        help="resume, in a restored home: command=CMD, publish=auto, deliver-to=DIR",
    )  # fmt: skip
    _add_rule(parser.add_argument_group("options of add"))
    failed = parser.add_argument_group("options of failed")
    add_limit(failed, "files")
    failed.add_argument("--retry", metavar="N", help="work on file N after all; N,N or all")
    failed.add_argument("--dismiss", metavar="N", help="forget file N; N,N or all")

    def run(arguments: argparse.Namespace) -> int:
        if arguments.action is None:
            parser.print_help()
            return USAGE
        return _watch(arguments)

    return run


def _add_rule(rule: "argparse._ArgumentGroup") -> None:
    """Add what `kbd watch add` takes beside folder and prompt."""
    rule.add_argument(
        "--pattern", action="append", metavar="GLOB",
        help="which files (also of test); again for more, `!GLOB` leaves out; default: all",
    )  # fmt: skip
    rule.add_argument("--name", help="for people; else the folder's name")
    rule.add_argument("--model", metavar="ID", help="provider:model; else the default one")
    rule.add_argument("--recipe", metavar="NAME", help="done by a recipe, without a model")
    rule.add_argument(
        "--otherwise", choices=("park", "model"),
        help="where a guard of the recipe fails (default: park)",
    )  # fmt: skip
    rule.add_argument("--batch", action="store_true", help="one run for all that land together")
    rule.add_argument("--quiet", type=float, metavar="S", help="wait S seconds without a change")
    rule.add_argument("--publish", choices=("review", "auto"), help="default: review")
    rule.add_argument("--deliver-to", metavar="DIR", help="where results go; with --publish auto")
    rule.add_argument("--existing", action="store_true", help="work on what is there already, too")
    rule.add_argument("--retries", type=int, metavar="N", help="of a failed run (default: 2)")
    rule.add_argument("--retry-wait", type=float, metavar="S", help="before the first (60)")
    rule.add_argument("--pause-on-failure", action="store_true", help="pause when a run fails")
    rule.add_argument("--runs-per-hour", type=int, metavar="N", help="then suspend (100)")
    rule.add_argument("--runs-per-path", type=int, metavar="N", help="a path and hour (5)")
    rule.add_argument("--chain-depth", type=int, metavar="N", help="rules in turn (3)")
    add_retention_arguments(rule)
    rule.add_argument("--on-outcome", metavar="CMD", help="run for each outcome, told as JSON")
    add_reading_arguments(rule)


def _watch(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "add":
            return _add(arguments)
        case "list":
            return _list(arguments)
        case "failed":
            return _failed(arguments)
        case "show" | "pause" | "resume" | "rm" | "test":
            return _run_named_action(arguments)
        case _:
            msg = f"there is no `kbd watch {line(arguments.action)}`; there is: "
            raise Stop(msg + ", ".join(ACTIONS), USAGE)


def _add(arguments: argparse.Namespace) -> int:
    if len(arguments.named) != 2 and not (arguments.recipe and len(arguments.named) == 1):
        raise Stop('which folder, and what to do? kbd watch add FOLDER "PROMPT"', USAGE)
    with connect_or_start(arguments) as client:
        say(add_watch(client, arguments))
    return OK


def _list(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        watches = call(client, "WatchList")["watches"]
    if arguments.json:
        say(json.dumps(watches))
        return OK
    say(render_list(watches))
    failed = [each["watch_id"] for each in watches if each["failed"]]
    if failed:
        # Without a watch it is about all of them.
        command = " ".join(("kbd watch failed", *(failed if len(failed) == 1 else ())))
        note(f"What failed, and why: {command}")
        note(f"Work on it again:     {command} --retry all")
    for each in watches:
        if "reason" in each:
            note(f"{line(each['name'], 32)}: {line(each['reason'])}")
    return OK


def _run_named_action(arguments: argparse.Namespace) -> int:
    if len(arguments.named) != 1:
        raise Stop(f"which watch? kbd watch {arguments.action} WATCH", USAGE)
    named = arguments.named[0]
    with connect(arguments) as client:
        if arguments.action == "test":
            return _test(client, arguments)
        watch = find_watch(client, named)
        return _run_action(client, watch, arguments)


def _run_action(client: Client, watch: dict[str, Any], arguments: argparse.Namespace) -> int:
    meant = {"watch_id": watch["watch_id"]}
    name = f"{line(watch['name'], 60)} ({watch['watch_id']})"
    match arguments.action:
        case "show":
            shown = call(client, "WatchGet", meant)["watch"]
            say(json.dumps(shown) if arguments.json else render_watch(shown))
        case "pause":
            call(client, "WatchPause", meant)
            say(f"Paused {name}. What lands is recorded and waits.")
        case "resume":
            confirmed = confirm_rule(watch, arguments) if watch["restored"] else {}
            consent = consent_for(client, watch, given=arguments.consent)
            resumed = call(client, "WatchResume", {**meant, **consent, **confirmed})["watch"]
            say(f"Resumed {name}; {resumed['waiting']} waiting, {resumed['failed']} failed.")
            if resumed["failed"]:
                note(f"Work on what failed: kbd watch failed {watch['watch_id']} --retry all")
        case _:
            call(client, "WatchRemove", meant)
            say(f"{name} is no longer watched. What was made stays.")
    return OK


def _failed(arguments: argparse.Namespace) -> int:
    if len(arguments.named) > 1:
        raise Stop("one watch, or none for all: kbd watch failed [WATCH]", USAGE)
    if arguments.retry and arguments.dismiss:
        raise Stop("either --retry or --dismiss", USAGE)
    with connect(arguments) as client:
        watch = find_watch(client, arguments.named[0]) if arguments.named else None
        if arguments.retry or arguments.dismiss:
            return _retry_or_dismiss(client, watch, arguments)
        found = _read_failed(client, watch, arguments.limit)
    text = json.dumps if arguments.json else partial(render_failed, newest=bool(arguments.limit))
    say(text(found))
    return OK


def _read_failed(client: Client, watch: dict[str, Any] | None, limit: int | None) -> dict[str, Any]:
    """Return one answer of `WatchFailedList` that has all files that failed, or the newest."""
    params = {"watch_id": watch["watch_id"]} if watch else {}
    if limit:
        return newest_rows(client, "WatchFailedList", params, "failed", limit)
    pages = list(each_page(client, "WatchFailedList", params))
    return {**pages[-1], "failed": [row for page in pages for row in page["failed"]]}


def _retry_or_dismiss(
    client: Client, watch: dict[str, Any] | None, arguments: argparse.Namespace
) -> int:
    """Take failed files up again, or forget them, whatever watch they are of."""
    method, done = (
        ("WatchFailedRetry", "Taken up again")
        if arguments.retry
        else ("WatchFailedDismiss", "Dismissed")
    )
    given = reading_params(arguments)
    if given and arguments.dismiss:
        raise Stop("how a table is to be read goes with --retry", USAGE)
    changed: list[int] = []
    for params in select_failed(client, watch, arguments.retry or arguments.dismiss):
        if arguments.retry and (given or is_interactive()):
            _settle(client, params, given)
        changed += call(client, method, params)["landing_ids"]
    if arguments.json:
        say(json.dumps({"landing_ids": changed}))
        return OK
    named = ", ".join(map(str, changed[:MAX_LISTED])) or "nothing had failed"
    more = f" and {len(changed) - MAX_LISTED} more" if len(changed) > MAX_LISTED else ""
    say(f"{done}: {named}{more}.")
    if arguments.retry and changed and watch and watch["status"] != "active":
        note(f"The watch is {watch['status']}: kbd watch resume {watch['watch_id']}")
    return OK


def _settle(client: Client, params: dict[str, Any], given: dict[str, Any]) -> None:
    """Say how the tables of failed files are to be read, where their runs had to ask."""
    failed = all_pages(client, "WatchFailedList", {"watch_id": params["watch_id"]}, "failed")
    numbers = params.get("landing_ids")
    meant = [row for row in failed if numbers is None or row["landing_id"] in numbers]
    found = dict.fromkeys(row["workbench_id"] for row in meant if row.get("workbench_id"))
    if not found:
        return
    shown = call(client, "WatchGet", {"watch_id": params["watch_id"]})["watch"]
    for workbench_id in found:
        asked = None if "recipe" in shown["rule"] else shown["rule"]["prompt"]
        settle_readings(client, workbench_id, given, asked)


def _test(client: Client, arguments: argparse.Namespace) -> int:
    tested = dry_run(client, arguments)
    say(json.dumps(tested) if arguments.json else render_dry_run(tested))
    return FAILED if tested["problems"] else OK


MAX_RECENT = 10
"""How many outcomes are shown; all are in `kbd log daemon`."""

MAX_LISTED = 20
"""How many files, runs or reasons of one kind are shown; `--json` has more."""

WIDTH = 80
"""Columns of a terminal."""

_FAILED_OPTIONS = ("--retry", "--dismiss")


def render_list(watches: list[dict[str, Any]]) -> str:
    """Return a line a watch, and what each does by itself."""
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
    table = render_table(("id", "name", "status", "landed", "open", "failed"), rows)
    return "\n".join((table, *(text for each in watches for text in ("", *render_acts(each)))))


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


def render_failed(found: dict[str, Any], *, newest: bool = False) -> str:
    """Render the failed files with reasons and remedies, and the suspended watches.

    Files that failed together, or of one watch for the same reason, are told together.

    Args:
        found: An answer of `WatchFailedList`.
        newest: Whether it has the newest files alone, as many as were asked for: all are rendered.
    """
    groups: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for row in found["failed"]:
        alike = (row["watch_id"], row.get("code"), row.get("message"), row.get("workbench_id"))
        groups.setdefault(alike, []).append(row)
    listed = list(groups.values())[: None if newest else MAX_LISTED]
    parts = [text for group in listed for text in _render_failed(group)]
    if newest:
        parts += render_total(len(found["failed"]), found["total"], "files")
    else:
        parts += _render_more(found["total"] - sum(len(group) for group in listed))
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
    fields = {
        "folder": rule["folder"] + noticed[watch["hints"]],
        "files": " ".join(rule["patterns"]),
        "prompt": rule["prompt"] or "none",
        **_recipe_fields(rule),
        "model": _render_model(rule),
        "runs": "one a file" if rule["mode"] == "file" else each,
        "changes": results,
        "results": rule.get("deliver_to", "stay in the workbench"),
        "limits": f"runs an hour: {limits['runs_per_hour']}, of one path: "
        f"{limits['runs_per_path_hour']}; rules in a chain: {limits['chain_depth']}",
        "failure": f"{again}put aside{', and the watch paused' if pauses else ''}",
        "command": shlex.join(rule["on_outcome"]) or "none",
        "consent": _render_consent(watch),
        **_retention_fields(rule),
        "status": _render_status(watch),
        "landed": f"{watch['landed']}{_render_counts(watch['outcomes'])}",
    }
    return [_wrap(text, f"  {name:<8} ") for name, text in fields.items()]


def _render_model(rule: dict[str, Any]) -> str:
    if rule.get("otherwise") == "park":
        return "none"
    return str(rule.get("model_id", "the default one when a run starts"))


def _recipe_fields(rule: dict[str, Any]) -> dict[str, str]:
    if "recipe" not in rule:
        return {}
    asks = rule.get("otherwise") == "model"
    then = "the model is asked" if asks else "the file is put aside"
    return {"recipe": f"{rule['recipe']}; where a guard of it fails, {then}"}


def _retention_fields(rule: dict[str, Any]) -> dict[str, str]:
    if "retention" not in rule:
        return {}
    archive, remove = (
        rule["retention"]["archive_after_days"],
        rule["retention"]["remove_after_days"],
    )
    then = f"removed {counted(remove, 'day')} later" if remove else "kept as archives"
    kept = f"archived after {counted(archive, 'day')} without a change, and {then}"
    return {"kept": kept if archive else "for good, whatever [retention] says"}


def _render_consent(watch: dict[str, Any]) -> str:
    consent = watch["rule"].get("consent")
    if consent is None:
        return "none"
    agreed = f"what lands may go to {consent['model_id']}"
    return f"none; the backup's ({agreed}) does not hold" if watch["restored"] else agreed


def _render_status(watch: dict[str, Any]) -> str:
    return f"{watch['status']}: {watch['reason']}" if "reason" in watch else str(watch["status"])


def _render_counts(outcomes: dict[str, int]) -> str:
    text = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    return f" ({text})" if text else ""


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
