"""`kbd show`: one event in full, with what it answers and the bytes that it names."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from kbd.cli.contents import Named, Version, chosen, named, save, version_of
from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find
from kbd.cli.reading import events_of, place_of, title_of
from kbd.cli.related import related
from kbd.cli.terminal import line, note, say, size, table
from kbd.cli.unfolding import cut, fields, indented, unfolded
from kbd.client.blocking import Client

__all__ = ["command"]

CHARACTERS = 6000
"""How much of a field, a call or a text is shown, unless all is asked for."""

BLOBS = 8
"""How many texts that an event names are shown, unless all are asked for."""

DIGITS = 16
"""How much of a hash is shown: enough to name it."""

BACK = 1000
"""Events that are read at once, backwards, to find where an event's run began."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd show` and return what runs it."""
    parser.epilog = """\
examples:
  kbd show taxes 48
  kbd show taxes 48 --full | less
  kbd show taxes 33 --blob 4f2a --out before
  kbd show taxes 48 --json | python -m json.tool

SEQ is the number that `kbd log` shows. With the event come the call that it
answers, the model's reply that asked for it, and the file versions, arguments
and results that it names, as far as they are text."""
    parser.add_argument("workbench", metavar="WB", help="its id or name; or `daemon`")
    parser.add_argument("seq", type=int, metavar="SEQ", help="the event's number")
    parser.add_argument("--full", action="store_true", help="cut nothing")
    parser.add_argument("--blob", metavar="HASH", help="bytes that it names; the beginning will do")
    parser.add_argument("--out", metavar="FILE", help="write those to a new file")
    parser.add_argument("--json", action="store_true", help="the event as one JSON object")
    return _show


def _show(arguments: argparse.Namespace) -> int:
    if arguments.out and not arguments.blob:
        raise Stop("--out needs --blob: which bytes?", USAGE)
    with connect(arguments) as client:
        log = name = "daemon"
        reason = ""
        if arguments.workbench != "daemon":
            workbench = find(client, arguments.workbench)
            log, name = str(workbench["id"]), str(workbench["name"])
            reason = str(workbench.get("reason", ""))
        event = _event(client, log, arguments.seq, name, reason)
        if arguments.json:
            say(json.dumps(event))
            return OK
        history = _history(client, log, event)
        if arguments.blob:
            _give(client, log, history, arguments.blob, arguments.out)
            return OK
        limit = sys.maxsize if arguments.full else CHARACTERS
        lines = _told(name, log, history, limit)
        shown = f"kbd show {log} {arguments.seq}"
        lines += _versions(client, log, shown, _blobs(history), limit)
        say("\n".join(lines))
    return OK


def _event(client: Client, log: str, seq: int, name: str, reason: str) -> dict[str, Any]:
    """Return an event.

    Raises:
        Stop: There is none of that number.
    """
    if seq >= 1:
        params = {"workbench_id": log, "after": seq - 1, "limit": 1}
        found = call(client, "EventsRead", params)
        if found["events"]:
            return dict(found["events"][0])
        last = int(found["last_seq"])
    else:
        last = int(call(client, "EventsRead", {"workbench_id": log, "limit": 1})["last_seq"])
    has = f"there are 1 to {last}" if last else "it is empty"
    damage = f"\n{line(reason)}" if reason else ""
    raise Stop(f"There is no event {seq} in {line(name)}; {has}.{damage}", FAILED)


def _give(
    client: Client, log: str, history: list[dict[str, Any]], begin: str, target: str | None
) -> None:
    """Print bytes that an event names if they are text, or write them to a file."""
    blob = chosen(_blobs(history), begin)
    if target:
        written = save(client, log, blob, target)
        note(f"{size(written)} -> {target}")
        return
    version = version_of(client, log, blob, whole=True)
    if version.fault or version.text is None:
        raise Stop(f"{blob} is {version.fault or 'no text; say --out FILE'}.", FAILED)
    say(version.text)


def _history(client: Client, log: str, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events up to this one, from the begin of its run on, or some if it has none."""
    history: list[dict[str, Any]] = []
    first = int(event["seq"]) + 1
    while first > 1:
        after = max(first - 1 - BACK, 0)
        history[:0] = events_of(client, log, after, first - 1)
        first = after + 1
        begun = any(_begins(each, event) for each in history)
        if begun or "run_id" not in event:
            break
    return history


def _begins(each: dict[str, Any], event: dict[str, Any]) -> bool:
    return each["type"] == "RunStarted" and each.get("run_id") == event.get("run_id")


def _blobs(history: list[dict[str, Any]]) -> list[Named]:
    """Return the bytes that an event names and those that its call does, each once."""
    parts = [history[-1].get("data"), *(each.fields for each in related(history))]
    found: dict[str, Named] = {}
    for blob in (blob for part in parts for blob in named(part)):
        found.setdefault(blob.hash, blob)
    return list(found.values())


def _told(name: str, log: str, history: list[dict[str, Any]], limit: int) -> list[str]:
    """Return what an event says, and what belongs to it."""
    event = history[-1]
    lines = [
        f"event {event['seq']} of {line(name, 60)} ({log}): {event['type']}",
        line(title_of(event), 300),
        "",
        *unfolded(_where(event)),
        "",
    ]
    lines += _cut_fields(event.get("data") or {}, limit)
    for each in related(history):
        lines += ["", f"{each.heading}:"]
        lines += indented(_cut_fields(each.fields, limit))
    return lines


def _cut_fields(record: dict[str, Any], limit: int) -> list[str]:
    """Return the fields of a record, each cut by itself."""
    return [text for field in fields(record) for text in cut(field, limit)]


def _versions(client: Client, log: str, shown: str, blobs: list[Named], limit: int) -> list[str]:
    """Return which bytes are named, how many they are, and what they say.

    Args:
        client: The daemon.
        log: The workbench.
        shown: The command that shows this event.
        blobs: What is named.
        limit: How much of a text is shown.
    """
    if not blobs:
        return []
    whole = limit == sys.maxsize
    few = blobs if whole else blobs[:BLOBS]
    versions = [version_of(client, log, blob.hash, whole=whole) for blob in few]
    rows = [
        (blob.field, blob.file, _size(version), blob.hash[:DIGITS])
        for blob, version in zip(few, versions, strict=True)
    ]
    lines = ["", table(("kept as", "file", "size", "hash"), rows)]
    if len(few) < len(blobs):
        lines.append(f"… and {len(blobs) - len(few)} more; --full tells all")
    lines.append(f"To have one: {shown} --blob HASH --out FILE")
    for blob, version in zip(few, versions, strict=True):
        if version.text and not version.fault:
            heading = " ".join(part for part in (blob.field, blob.file) if part)
            texts = unfolded(version.text) if version.is_whole else version.text.split("\n")
            rest = [] if version.is_whole else ["… --full shows all of it"]
            lines += ["", f"{heading}, {blob.hash[:DIGITS]}:"]
            lines += indented([*cut(texts, limit), *rest])
    return lines


def _size(version: Version) -> str:
    return version.fault or size(version.size_bytes)


def _where(event: dict[str, Any]) -> dict[str, Any]:
    """Return when an event was, and what it belongs to."""
    where: dict[str, Any] = {"time": event["ts"].replace("T", " ").replace("Z", " UTC")}
    if "run_id" in event:
        where["run"] = event["run_id"]
    place = place_of(event)
    if place.get("text"):
        where["place"] = place["text"]
    if place.get("label"):
        where["item"] = line(place["label"])
    if "causation_id" in event:
        where["follows from"] = f"event {event['causation_id'].rpartition(':')[2]}"
    return where
