"""`kbd watch`: watch folders, so that runs start by themselves; show what landed and failed."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import line, note, say
from kbd.cli.watch_rules import add_watch, consent_for, dry_run, find_watch, select_failed
from kbd.cli.watch_text import MAX_LISTED, render_dry_run, render_failed, render_list, render_watch
from kbd.client.blocking import Client

__all__ = ["ACTIONS", "command"]

ACTIONS = ("add", "list", "show", "pause", "resume", "rm", "failed", "test")

EPILOG = """\
examples:
  kbd watch add inbox "total Amount by Shop" --pattern 'sales*' \\
      --publish auto --deliver-to outbox       prints the new watch's id
  kbd watch test inbox                         what would run; nothing is done
  kbd watch list
  kbd watch show inbox                         its rule, what waits, what became of files
  kbd watch failed                             what failed, why, and what helps
  kbd watch failed inbox --retry all
  kbd watch pause inbox; kbd watch resume inbox
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
    _add_rule(parser.add_argument_group("options of add"))
    failed = parser.add_argument_group("options of failed")
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
    rule.add_argument("--on-outcome", metavar="CMD", help="run for each outcome, told as JSON")


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
            msg = f"There is no `kbd watch {line(arguments.action)}`; there is: "
            raise Stop(msg + ", ".join(ACTIONS), USAGE)


def _add(arguments: argparse.Namespace) -> int:
    if len(arguments.named) != 2:
        raise Stop('Which folder, and what to do? kbd watch add FOLDER "PROMPT"', USAGE)
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
    for each in watches:
        if "reason" in each:
            note(f"{line(each['name'], 32)}: {line(each['reason'])}")
    return OK


def _run_named_action(arguments: argparse.Namespace) -> int:
    if len(arguments.named) != 1:
        raise Stop(f"Which watch? kbd watch {arguments.action} WATCH", USAGE)
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
            consent = consent_for(client, watch) if arguments.consent else {}
            resumed = call(client, "WatchResume", {**meant, **consent})["watch"]
            say(f"Resumed {name}; {resumed['waiting']} waiting, {resumed['failed']} failed.")
            if resumed["failed"]:
                note(f"Work on what failed: kbd watch failed {watch['watch_id']} --retry all")
        case _:
            call(client, "WatchRemove", meant)
            say(f"{name} is no longer watched. What was made stays.")
    return OK


def _failed(arguments: argparse.Namespace) -> int:
    if len(arguments.named) > 1:
        raise Stop("One watch, or none for all: kbd watch failed [WATCH]", USAGE)
    if arguments.retry and arguments.dismiss:
        raise Stop("Either --retry or --dismiss.", USAGE)
    with connect(arguments) as client:
        watch = find_watch(client, arguments.named[0]) if arguments.named else None
        if arguments.retry or arguments.dismiss:
            return _retry_or_dismiss(client, watch, arguments)
        found = call(client, "WatchFailedList", {"watch_id": watch["watch_id"]} if watch else {})
    say(json.dumps(found) if arguments.json else render_failed(found))
    return OK


def _retry_or_dismiss(
    client: Client, watch: dict[str, Any] | None, arguments: argparse.Namespace
) -> int:
    """Take failed files up again, or forget them, whatever watch they are of."""
    method, told = (
        ("WatchFailedRetry", "Taken up again")
        if arguments.retry
        else ("WatchFailedDismiss", "Dismissed")
    )
    changed: list[int] = []
    for params in select_failed(client, watch, arguments.retry or arguments.dismiss):
        changed += call(client, method, params)["landing_ids"]
    if arguments.json:
        say(json.dumps({"landing_ids": changed}))
        return OK
    named = ", ".join(map(str, changed[:MAX_LISTED])) or "nothing had failed"
    more = f" and {len(changed) - MAX_LISTED} more" if len(changed) > MAX_LISTED else ""
    say(f"{told}: {named}{more}.")
    if arguments.retry and changed and watch and watch["status"] != "active":
        note(f"The watch is {watch['status']}: kbd watch resume {watch['watch_id']}")
    return OK


def _test(client: Client, arguments: argparse.Namespace) -> int:
    tested = dry_run(client, arguments)
    say(json.dumps(tested) if arguments.json else render_dry_run(tested))
    return FAILED if tested["problems"] else OK
