"""`kbd approve`: what waits for a person, and the person's decisions."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, OK, RequestRefused, Stop
from kbd.cli.link import call, connect
from kbd.cli.terminal import ask_text, format_time, is_interactive, line, note, say
from kbd.client.blocking import Client

__all__ = ["command", "describe_approval"]

_HELP = "y: accept   d: decline   Enter: decide later"


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd approve` and return what runs it."""
    parser.epilog = """\
examples:
  kbd approve                        # asks about each, or lists them where nobody can be asked
  kbd approve taxes                  # only of this workbench
  kbd approve 4f1c6a2e90b7d853-a09c1 --accept
  kbd approve 4f1c6a2e90b7d853-a09c1 --decline

An approval is named by its id or the beginning of it."""
    parser.add_argument(
        "named", nargs="*", default=[], metavar="WB or APPROVAL", help="only these; all without"
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--accept", action="store_true", help="accept what is named")
    answer.add_argument("--decline", action="store_true", help="decline what is named")
    answer.add_argument("--list", action="store_true", help="ask nothing, only list")
    parser.add_argument("--json", action="store_true", help="list as JSON")
    return _approve


def _approve(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        found = call(client, "ApprovalList", slow=True)["approvals"]
        chosen = _chosen(found, arguments.named)
        if arguments.json:
            say(json.dumps(chosen))
            return OK
        if arguments.accept or arguments.decline:
            if not arguments.named:
                raise Stop("name what is decided: its id, or the workbench", CONFIRMATION_NEEDED)
            return _decide_all(client, chosen, "accept" if arguments.accept else "decline")
        if not chosen:
            say("Nothing waits for a person.")
            return OK
        if arguments.list or not is_interactive():
            for row in chosen:
                say(describe_approval(row))
            return OK
        return _ask_each(client, chosen)


def _chosen(found: Sequence[Mapping[str, Any]], named: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return what is named, in the order in which it can be decided.

    Raises:
        Stop: A name means nothing that waits.
    """
    chosen = dict.fromkeys(range(len(found)))
    if named:
        chosen = {}
        for name in named:
            places = [place for place, row in enumerate(found) if _is_meant(row, name)]
            if not places:
                raise Stop(f"nothing waits under {line(name)}", FAILED)
            chosen.update(dict.fromkeys(places))
    return [found[place] for place in sorted(chosen)]


def _is_meant(row: Mapping[str, Any], name: str) -> bool:
    return name == row["workbench_name"] or (bool(name) and row["approval_id"].startswith(name))


def describe_approval(row: Mapping[str, Any]) -> str:
    """Return an approval as lines: what is asked, where, since when, for whom."""
    asked_by = row.get("asked_by")
    who = f", asked by {line(asked_by['client'])}" if asked_by else ""
    run = f", run {row['run_id'].rpartition('-')[2]} waits" if "run_id" in row else ""
    return (
        f"{line(row['title'])}\n"
        f"  in workbench {line(row['workbench_name'])}{run}{who}, {format_time(row['asked_at'])}\n"
        f"  kbd approve {row['approval_id']}"
    )


def _ask_each(client: Client, rows: Sequence[Mapping[str, Any]]) -> int:
    """Ask about each; what somebody else decided meanwhile is told, and the next one asked."""
    code = OK
    for row in rows:
        say(describe_approval(row))
        while True:
            match ask_text("Accept? [y, d to decline, Enter for later]").strip().lower():
                case "y" | "yes":
                    code = max(code, _decide_all(client, (row,), "accept"))
                case "d" | "decline" | "n" | "no":
                    code = max(code, _decide_all(client, (row,), "decline"))
                case "":
                    pass
                case _:
                    note(_HELP)
                    continue
            break
    return code


def _decide_all(client: Client, rows: Sequence[Mapping[str, Any]], decision: str) -> int:
    """Decide each, say what came of it, and return the exit code."""
    code = OK
    for row in rows:
        params = {"approval_id": row["approval_id"], "decision": decision}
        try:
            done = call(client, "ApprovalDecide", params, slow=True)
        except RequestRefused as refused:
            note(f"{line(row['title'])}: {refused}")
            code = FAILED
            continue
        say(f"{'accepted' if decision == 'accept' else 'declined'}: {line(row['title'])}")
        for path in done.get("published", {}).get("published", ()):
            say(f"published {line(path)}")
    return code
