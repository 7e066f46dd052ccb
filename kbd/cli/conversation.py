"""`kbd conversation`: show the messages of a workbench, with ids, and what happened in between."""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.log_reader import event_title, read_events
from kbd.cli.names import find_workbench
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


def read_conversation(client: Client, workbench_id: str) -> list[dict[str, Any]]:
    """Return the entries of a conversation, as `WorkshopGetConversation` answers them."""
    found: list[dict[str, Any]] = call(
        client, "WorkshopGetConversation", {"workbench_id": workbench_id}, slow=True
    )["messages"]
    return found


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

Each message has an id, by which `kbd undo`, `kbd regenerate` and `kbd fork` name it. What was
undone is not shown, and can still be named: `kbd log taxes --type UserMessageAdded` has it."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("--tools", action="store_true", help="show tool calls and results, too")
    parser.add_argument("--json", action="store_true", help="all of it as JSON")
    return _conversation


def _conversation(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        entries = read_conversation(client, workbench_id)
        titles = {} if arguments.json else read_titles(client, workbench_id, entries)
    if arguments.json:
        say(json.dumps(entries))
        return OK
    if not entries:
        say("Nothing was said yet.")
    for text in render_conversation(entries, titles, with_tools=arguments.tools):
        say(text)
    return OK
