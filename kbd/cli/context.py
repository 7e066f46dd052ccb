"""`kbd context`: list, show, set and delete the context that every run is given."""

import argparse
import json
import os
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import clean, counted, format_time, line, note, render_table, say
from kbd.client.blocking import Client

__all__ = ["command"]

MIN_REPORTED_SHARE = 0.005
"""A smaller share of the window is not told."""

ACTIONS = ("list", "show", "set", "delete")


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd context` and return what runs it."""
    parser.epilog = """\
examples:
  kbd context taxes                                what is set, and what it weighs
  kbd context taxes set situation "The audit of 2024; amounts in EUR."
  kbd context taxes set document-style --file house-style.txt
  kbd context taxes show situation
  kbd context taxes delete situation

categories: company-context, department-context, situation, document-style"""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, metavar="ACTION", default="list",
        help=", ".join(ACTIONS),
    )  # fmt: skip
    parser.add_argument("category", nargs="?", metavar="CATEGORY", help="one of the four")
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what `set` tells every run")
    parser.add_argument("--file", metavar="PATH", help="a file whose text `set` tells every run")
    parser.add_argument("--json", action="store_true", help="`list` and `show` as JSON")
    return _context


def _context(arguments: argparse.Namespace) -> int:
    if arguments.action != "list" and not arguments.category:
        raise Stop(f"which category? kbd context WB {arguments.action} CATEGORY", USAGE)
    if arguments.action == "set" and (arguments.text is None) == (arguments.file is None):
        raise Stop("give a text, or --file PATH", USAGE)
    with connect(arguments) as client:
        named = {"workbench_id": str(find_workbench(client, arguments.workbench)["id"])}
        if arguments.action == "list":
            return _list(client, named, as_json=arguments.json)
        named["category"] = arguments.category
        match arguments.action:
            case "show":
                return _show(client, named, as_json=arguments.json)
            case "set":
                return _set(client, named, arguments)
            case _:
                return _delete(client, named)


def _list(client: Client, named: dict[str, str], *, as_json: bool) -> int:
    found = call(client, "ContextList", named)
    if as_json:
        say(json.dumps(found))
        return OK
    rows = [
        (
            item["category"],
            counted(item["characters"], "character") if item["status"] == "set" else "-",
            line(item.get("source_name", ""), 40),
            format_time(item["updated_at"]) if "updated_at" in item else "",
        )
        for item in found["items"]
    ]
    say(render_table(("category", "text", "from", "set (UTC)"), rows))
    _report_size(found["weight"])
    return OK


def _show(client: Client, named: dict[str, str], *, as_json: bool) -> int:
    found = call(client, "ContextGet", named)
    if as_json:
        say(json.dumps(found))
    elif found["text"]:
        say("\n".join(clean(each) for each in found["text"].splitlines()))
    else:
        note(f"{line(named['category'])} is empty.")
    return OK


def _set(client: Client, named: dict[str, str], arguments: argparse.Namespace) -> int:
    given = {"text": arguments.text}
    if arguments.file is not None:
        # The daemon reads it, and works in another folder.
        given = {"source_path": os.path.abspath(arguments.file)}
    answer = call(client, "ContextSet", {**named, **given}, slow=True)
    length = counted(answer["item"]["characters"], "character")
    say(f"Every run is told {answer['item']['category']} now: {length}.")
    _report_size(answer["weight"])
    return OK


def _delete(client: Client, named: dict[str, str]) -> int:
    gone = call(client, "ContextDelete", named)
    say(f"Deleted {line(named['category'])}." if gone["deleted"] else "It was empty.")
    return OK


def _report_size(weight: dict[str, Any]) -> None:
    if not weight["estimated_tokens"]:
        return
    text = f"All together: about {weight['estimated_tokens']:,} tokens in each request"
    if weight.get("share", 0) >= MIN_REPORTED_SHARE:
        text += f", {weight['share']:.1%} of the window of {line(weight['model_id'])}"
    say(text + ".")
    if weight["warning"]:
        note("That is much: what does not fit is left out. Shorten it, or use a larger model.")
