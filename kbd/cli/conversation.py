"""`kbd conversation`: show the messages of a workbench, with ids, and what happened in between."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import connect
from kbd.cli.log_reader import event_title, read_events
from kbd.cli.names import find_workbench
from kbd.cli.pages import PAGE_ROWS, add_limit, all_pages, each_page, newest_rows, render_total
from kbd.cli.terminal import clean, format_time, line, say, wrap
from kbd.client.blocking import Client

__all__ = [
    "command",
    "is_message",
    "read_conversation",
    "read_titles",
    "render_conversation",
    "resolve_message",
]

TEXT_COLUMNS = 96

_WHO = {"user": "You", "assistant": "kbd"}

_SHOWN_TYPES = ("user_message", "assistant_message", "system_event")
"""The types of what is shown without tool traffic; those of answers are also of calls."""

_MIN_ROWS = 100
"""How many entries are asked for at least: most may be calls, which are not shown."""


def read_conversation(client: Client, workbench_id: str) -> list[dict[str, Any]]:
    """Return the entries of a conversation, as `WorkshopGetConversation` answers them."""
    params = {"workbench_id": workbench_id}
    return all_pages(client, "WorkshopGetConversation", params, "messages", slow=True)


def read_titles(client: Client, workbench_id: str, entries: list[dict[str, Any]]) -> dict[int, str]:
    """Return what happened between messages as sentences, by the numbers of the events."""
    found: dict[int, str] = {}
    for entry in entries:
        if entry["type"] == "system_event":
            for event in read_events(client, workbench_id, entry["seq"] - 1, entry["seq"]):
                found[entry["seq"]] = event_title(event)
    return found


def is_message(entry: dict[str, Any]) -> bool:
    """Return whether an entry is a message or an answer, to which an undo can go back."""
    return entry["type"] in ("user_message", "assistant_message") and not entry.get("tool_calls")


def resolve_message(entries: list[dict[str, Any]], named: str) -> str:
    """Return the id of the message that begins like this, or what was named if none does.

    A message that an undo cut off is not among the entries; its whole id is taken as it is.

    Raises:
        Stop: Several do.
    """
    ids = [str(entry["message_id"]) for entry in entries if is_message(entry)]
    meant = [each for each in ids if each.startswith(named)]
    if named in ids or not meant:
        return named
    if len(meant) > 1:
        raise Stop(f"several messages begin with {named}: {', '.join(meant)}", FAILED)
    return meant[0]


def render_conversation(
    entries: list[dict[str, Any]], titles: dict[int, str], *, with_tools: bool
) -> Iterator[str]:
    """Render a conversation as lines.

    Args:
        entries: The conversation.
        titles: What happened in between, as `read_titles` gives it.
        with_tools: Whether to tell of tool calls, too.
    """
    for entry in entries:
        when = format_time(entry["created_at"])
        if is_message(entry):
            yield f"{_WHO[entry['role']]}  {when}  {entry['message_id']}  (event {entry['seq']})"
            for paragraph in clean(str(entry["text"])).splitlines() or [""]:
                yield from wrap(f"    {paragraph}".rstrip(), TEXT_COLUMNS)
            yield ""
        elif entry["type"] == "system_event":
            yield f"--  {when}  {line(titles.get(entry['seq'], str(entry['text'])))}"
            yield ""
        elif with_tools:
            yield f"    {line(_render_calls(entry), TEXT_COLUMNS)}"


def _render_calls(entry: dict[str, Any]) -> str:
    if entry["type"] == "tool_result":
        return f"<- {entry['text']}"
    calls = (each["function"] for each in entry["tool_calls"])
    return "-> " + "; ".join(f"{each['name']} {each['arguments']}" for each in calls)


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd conversation` and return what runs it."""
    parser.epilog = """\
examples:
  kbd conversation taxes
  kbd conversation taxes --tools
  kbd conversation taxes --limit 4             the newest

Each message has an id, by which `kbd undo`, `kbd regenerate` and `kbd fork` name it. What was
undone is not shown, and can still be named: `kbd log taxes --type UserMessageAdded` has it."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--tools", action="store_true", help="show tool calls and results, too")
    add_limit(parser, "entries")
    parser.add_argument("--json", action="store_true", help="all of it as JSON")
    return _conversation


def _conversation(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        if arguments.limit:
            entries, total = _read_newest(client, workbench_id, arguments)
        else:
            entries, total = read_conversation(client, workbench_id), 0
        titles = {} if arguments.json else read_titles(client, workbench_id, entries)
    if arguments.json:
        say(json.dumps(entries))
        return OK
    if not entries:
        say("Nothing was said yet.")
    for text in render_total(len(entries), total, "entries"):
        say(text)
    for text in render_conversation(entries, titles, with_tools=arguments.tools):
        say(text)
    return OK


def _read_newest(
    client: Client, workbench_id: str, arguments: argparse.Namespace
) -> tuple[list[dict[str, Any]], int]:
    """Return the newest entries, and how many there are in all; 0 if none are left out.

    Of what is not shown, calls of tools are counted in all, too: the daemon tells them from answers
    only by what stands in them.
    """
    count, method = arguments.limit, "WorkshopGetConversation"
    params = {"workbench_id": workbench_id}
    if arguments.tools or arguments.json:
        answer = newest_rows(client, method, params, "messages", count, slow=True)
        return answer["messages"], answer["total"]
    asked = {**params, "types": _SHOWN_TYPES, "descending": True}
    newest: list[dict[str, Any]] = []
    rows = min(max(count, _MIN_ROWS), PAGE_ROWS)
    for page in each_page(client, method, asked, rows=rows, slow=True):
        newest += (
            entry
            for entry in page["messages"]
            if entry["type"] == "system_event" or is_message(entry)
        )
        if len(newest) > count:
            return newest[:count][::-1], page["total"]
    return newest[::-1], 0
