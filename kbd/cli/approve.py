"""`kbd approve`: what waits for a person, and the person's decisions."""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, OK, RequestRefused, Stop
from kbd.cli.link import call, connect
from kbd.cli.terminal import ask_text, format_time, is_interactive, line, note, say
from kbd.client.blocking import Client
from kbd.lookalikes import mark_hidden

__all__ = ["command", "describe_approval"]

MAX_NAMED = 5
"""Workbenches that are named where they cannot be read."""

_HELP = "y: accept   d: decline   Enter: decide later"


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd approve` and return what runs it."""
    parser.epilog = """\
examples:
  kbd approve                        # asks about each, or lists them where nobody can be asked
  kbd approve taxes                  # only of this workbench
  kbd approve 4f1c6a2e90b7d853-a09c1 --accept
  kbd approve 4f1c6a2e90b7d853-a09c1 --decline

An approval is named by its id or the beginning of it; a workbench stands for all
that waits in it. A beginning that fits several decides nothing."""
    parser.add_argument(
        "named", nargs="*", default=[], metavar="WB or APPROVAL", help="only these; all without"
    )
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--accept", action="store_true", help="accept what is named")
    answer.add_argument("--decline", action="store_true", help="decline what is named")
    answer.add_argument("--list", action="store_true", help="ask nothing, only list")
    parser.add_argument("--json", action="store_true", help="list as JSON")

    def approve(arguments: argparse.Namespace) -> int:
        # Said at once: a program would take the list for a decision.
        if arguments.json and (arguments.accept or arguments.decline):
            parser.error("--json lists; it does not go with --accept or --decline")
        return _approve(arguments)

    return approve


def _approve(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        listed = call(client, "ApprovalList", slow=True)
        _tell_unread(listed.get("unread", ()))
        found = listed["approvals"]
        decides = bool(arguments.accept or arguments.decline)
        chosen = _chosen(found, arguments.named, decides=decides)
        if arguments.json:
            say(json.dumps(chosen))
            return OK
        if decides:
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


def _tell_unread(workbench_ids: Sequence[str]) -> None:
    """Say which workbenches are damaged: something may wait in them that nobody can see."""
    if workbench_ids:
        count = len(workbench_ids)
        which = "1 workbench" if count == 1 else f"{count} workbenches"
        note(
            f"{which} cannot be read to the end; what waits there may not be shown: "
            f"{', '.join(workbench_ids[:MAX_NAMED])}{'…' if count > MAX_NAMED else ''}; "
            "`kbd verify WB` tells more"
        )


def _chosen(
    found: Sequence[Mapping[str, Any]], named: Sequence[str], *, decides: bool
) -> list[Mapping[str, Any]]:
    """Return what is named, in the order in which it can be decided.

    Raises:
        Stop: A name means nothing that waits; or it means several, and they are to be decided.
    """
    chosen = dict.fromkeys(range(len(found)))
    if named:
        chosen = {}
        for name in named:
            places, is_begun = _find_places(found, name)
            if not places:
                raise Stop(f"nothing waits under {line(name)}", FAILED)
            if decides:
                _check_meaning([found[place] for place in places], name, is_begun=is_begun)
            chosen.update(dict.fromkeys(places))
    return [found[place] for place in sorted(chosen)]


def _find_places(found: Sequence[Mapping[str, Any]], name: str) -> tuple[list[int], bool]:
    """Return the places of what a name means, and whether it only begins the ids of those.

    As for workbenches a whole id goes before a name, and a name before the beginning of an id.
    """
    whole: tuple[Callable[[Mapping[str, Any]], bool], ...] = (
        lambda row: name in (row["approval_id"], row["workbench_id"]),
        lambda row: bool(row["workbench_name"] == name),
    )
    for is_meant in whole:
        if places := [place for place, row in enumerate(found) if is_meant(row)]:
            return places, False
    begun = (place for place, row in enumerate(found) if row["approval_id"].startswith(name))
    return list(begun) if name else [], True


def _check_meaning(rows: Sequence[Mapping[str, Any]], name: str, *, is_begun: bool) -> None:
    """Refuse to decide what a name means by chance.

    Raises:
        Stop: It means things of several workbenches, or begins the ids of several questions.
    """
    # What was asked together has one id, with a number behind it for each part.
    questions = {"-".join(row["approval_id"].split("-")[:2]) for row in rows}
    # The beginning of a workbench's id is all that waits in it; a hyphen stands behind that id.
    begins_several = is_begun and "-" in name and len(questions) > 1
    if begins_several or len({row["workbench_id"] for row in rows}) > 1:
        ids = ", ".join(sorted(questions))
        raise Stop(f"several are meant by {line(name)}; name one by its id: {ids}", FAILED)


def describe_approval(row: Mapping[str, Any]) -> str:
    """Return an approval as lines: what is asked, where, since when, for whom.

    What the first line has no room for stands below it: nobody agrees to what is not shown.
    """
    asked_by = row.get("asked_by")
    who = f", asked by {line(asked_by['client'])}" if asked_by else ""
    run = f", for run {row['run_id'].rpartition('-')[2]}" if "run_id" in row else ""
    title = line(row["title"])
    listed = _file_lines(row) if title.endswith("…") else ()
    where = f"in workbench {line(row['workbench_name'])}{run}{who}"
    return "\n".join(
        (
            title,
            *listed,
            f"  {where}, {format_time(row['asked_at'])}",
            f"  kbd approve {row['approval_id']}",
        )
    )


def _file_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that an approval is about, each with its new external references."""
    for file in row.get("files", ()):
        yield f"    {_whole_line(file['path'])} ({line(file['change_type'])})"
        for reference in file.get("references", ()):
            yield f"      reaches out to {_whole_line(reference)}"


def _whole_line(text: str) -> str:
    """Return a text as one line with all that it has; what nobody sees is written by its number."""
    return mark_hidden(text).replace("\n", " ").replace("\t", " ")


def _ask_each(client: Client, rows: Sequence[Mapping[str, Any]]) -> int:
    """Ask about each; what somebody else decided meanwhile is told, and the next one asked."""
    code, left = OK, list(rows)
    while left:
        row = left.pop(0)
        say(describe_approval(row))
        while True:
            match ask_text("Accept? [y, d to decline, Enter for later]").strip().lower():
                case "y" | "yes":
                    code = max(code, _decide(client, row, "accept"))
                case "d" | "decline" | "n" | "no":
                    code = max(code, _decide(client, row, "decline"))
                case "":
                    break
                case _:
                    note(_HELP)
                    continue
            left = _still_waiting(client, row, left)
            break
    return code


def _decide_all(client: Client, rows: Sequence[Mapping[str, Any]], decision: str) -> int:
    """Decide each, say what came of it, and return the exit code."""
    # Each is tried: what is not listed any more may have been decided otherwise, or be gone undone.
    return max((_decide(client, row, decision) for row in rows), default=OK)


def _decide(client: Client, row: Mapping[str, Any], decision: str) -> int:
    """Decide one, say what came of it, and return the exit code."""
    params = {"approval_id": row["approval_id"], "decision": decision}
    word = "accepted" if decision == "accept" else "declined"
    try:
        done = call(client, "ApprovalDecide", params, slow=True)
    except RequestRefused as refused:
        if refused.detail.get("decision") == decision:
            # By another decision that settled this one, too, or by somebody else.
            say(f"{word} already: {line(row['title'])}")
            return OK
        note(f"{line(row['title'])}: {refused}")
        return FAILED
    say(f"{word}: {line(row['title'])}")
    for path in done.get("published", {}).get("published", ()):
        say(f"published {line(path)}")
    return OK


def _still_waiting(
    client: Client, decided: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return which of them wait still; a decision may settle others of its workbench, too."""
    workbench_id = decided["workbench_id"]
    if all(row["workbench_id"] != workbench_id for row in rows):
        return list(rows)
    try:
        found = call(client, "ApprovalList", {"workbench_id": workbench_id})["approvals"]
    except RequestRefused:
        return list(rows)  # Deleted meanwhile, or damaged: who decides one of it is told.
    waiting = {row["approval_id"] for row in found}
    left: list[Mapping[str, Any]] = []
    for row in rows:
        if row["workbench_id"] != workbench_id or row["approval_id"] in waiting:
            left.append(row)
        else:
            say(f"waits no more: {line(row['title'])}")
    return left
