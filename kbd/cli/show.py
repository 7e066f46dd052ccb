"""`kbd show`: one event in full, with related events and the blobs that it names.

Related are the call that a result answers, the reply that asked for a call, and the messages that a
model saw before a turn. Of a blob it shows which it is, its size and its text; it can be saved.
"""

import argparse
import base64
import codecs
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from kbd.cli.exits import FAILED, OK, USAGE, RequestRefused, Stop
from kbd.cli.link import call, connect
from kbd.cli.log_reader import event_actor, event_place, event_title, read_events
from kbd.cli.names import find_workbench
from kbd.cli.step_text import indent_lines, render_fields, render_value, truncate_lines
from kbd.cli.terminal import line, note, render_table, say, size
from kbd.client.blocking import Client

__all__ = [
    "BlobDescription",
    "BlobReference",
    "Related",
    "command",
    "describe_blob",
    "find_hash",
    "referenced_blobs",
    "related_events",
    "save_blob",
]

MESSAGE_COLUMNS = 100
"""How much is shown of each message that a model saw; `kbd show` of its event has all of it."""


class Related(NamedTuple):
    """Related record of another event: fields as they stand, under a heading."""

    heading: str
    fields: dict[str, Any]


def related_events(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return the records related to the last of these events.

    Args:
        history: Events in order, as `EventsRead` tells them, from the begin of the run on.
    """
    event = history[-1]
    data = event.get("data") or {}
    match event["type"]:
        case "ToolCalled" | "ToolReturned" | "ToolRefused" if data.get("call_id"):
            return _related_to_call(history, str(data["call_id"]))
        case "FileChanged" if data.get("call_id"):
            return [
                _without_arguments(each)
                for each in _related_to_call(history, str(data["call_id"]))[:1]
            ]
        case "ModelRequested":
            return _seen_messages(history)
        case "ModelReplied" | "ModelFailed":
            return _related_request(history)
        case _:
            return []


def _related_to_call(history: Sequence[dict[str, Any]], call_id: str) -> list[Related]:
    """Return a call with its arguments, and the reply that asked for it."""
    call: dict[str, Any] = {}
    number = 0
    for event in reversed(history):
        data = event.get("data") or {}
        if event["type"] == "ToolCalled" and data.get("call_id") == call_id and not number:
            number = int(event["seq"])
            names = ("tool", "plugin", "arguments", "arguments_blob")
            call = {name: data[name] for name in names if data.get(name)}
        elif event["type"] == "ModelReplied":
            asked = [each for each in data.get("calls", ()) if each.get("id") == call_id]
            if asked:
                return [
                    _call_fields(number, {**asked[0], **call}),
                    Related(f"asked for by the model, event {event['seq']}", _reply_fields(data)),
                ]
    return [_call_fields(number, call)] if call else []


def _call_fields(number: int, fields: dict[str, Any]) -> Related:
    """Return a call: as it was made, or as it was only asked for."""
    shown = {"tool": fields.get("tool") or fields.get("name", "")}
    names = ("plugin", "arguments", "arguments_blob", "blob", "fault")
    shown |= {name: fields[name] for name in names if fields.get(name)}
    return Related(f"the call, event {number}" if number else "the call", shown)


def _without_arguments(call: Related) -> Related:
    """Return a call without what it was given, which `kbd show` of it has."""
    names = {"tool", "plugin"}
    return Related(call.heading, {name: call.fields[name] for name in call.fields if name in names})


def _reply_fields(data: dict[str, Any]) -> dict[str, Any]:
    calls = [str(call.get("name")) for call in data.get("calls", ())]
    return {**({"text": data["text"]} if data.get("text") else {}), "calls": calls}


def _related_request(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return the request that a reply answers."""
    for event in reversed(history):
        if event["type"] == "ModelRequested":
            names = ("model_id", "turn", "tool_choice")
            fields = {name: value for name, value in event["data"].items() if name in names}
            return [Related(f"asked in event {event['seq']}", fields)]
    return []


def _seen_messages(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return the replies and results that a model saw after its opening messages."""
    seen: dict[str, Any] = {}
    for event in history[:-1]:
        data = event.get("data") or {}
        match event["type"]:
            # Each phase and each item begins a conversation of its own.
            case "PhaseStarted" | "ItemStarted":
                seen.clear()
            case "ModelReplied":
                calls = ", ".join(str(call.get("name")) for call in data.get("calls", ()))
                text = " ".join(part for part in (calls, str(data.get("text", ""))) if part)
                seen[f"event {event['seq']}, model"] = line(text, MESSAGE_COLUMNS)
            case "ToolReturned" | "ToolRefused":
                shown = line(str(data.get("shown", "")), MESSAGE_COLUMNS)
                seen[f"event {event['seq']}, tool"] = shown
    return [Related("after the opening messages it saw", seen)] if seen else []


BLOB_FIELDS = frozenset(
    {"after", "arguments_blob", "base", "before", "blob", "new", "old", "opening", "origin"}
)
"""The fields of events that hold the hash of kept bytes; a test compares this with the events."""

PART_BYTES = 1024 * 1024
"""What is read at once; of a longer version no more is looked at unless all is asked for."""

_HASH_DIGITS = 64

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
"""Characters that texts do not have."""


class BlobReference(NamedTuple):
    """Reference of an event to a blob: its hash, the field, maybe a file's name."""

    hash: str
    field: str
    file: str


class BlobDescription(NamedTuple):
    """Description of a blob.

    Attributes:
        size_bytes: How many there are.
        text: What they say, or the beginning of it; None if they are no text.
        is_whole: Whether that is all.
        fault: Why they cannot be had, or should not be believed.
    """

    size_bytes: int = 0
    text: str | None = None
    is_whole: bool = False
    fault: str = ""


def referenced_blobs(data: Any, field: str = "", file: str = "") -> Iterator[BlobReference]:
    """Yield the blobs that an event's data name, each hash as often as it is named."""
    match data:
        case dict():
            own = data.get("name")
            for name, value in data.items():
                yield from referenced_blobs(value, name, own if isinstance(own, str) else file)
        case list():
            for value in data:
                yield from referenced_blobs(value, field, file)
        case str() if field in BLOB_FIELDS and len(data) == _HASH_DIGITS:
            yield BlobReference(data, field, file)


def find_hash(blobs: list[BlobReference], begin: str) -> str:
    """Return the hash that begins like this.

    Raises:
        Stop: None, or several.
    """
    hashes = sorted({blob.hash for blob in blobs if begin and blob.hash.startswith(begin.lower())})
    if len(hashes) == 1:
        return hashes[0]
    if hashes:
        raise Stop(f"several versions begin with {begin}; say more of the hash", USAGE)
    raise Stop(f"the event names no file version {begin}", FAILED)


_FAULTS = {
    "NOT_FOUND": "not kept",
    "FILE_READ_FAILED": "damaged",
    "BLOB_COLLECTED": "collected",
}
"""What the daemon's refusal to hand a blob out says of it."""


def describe_blob(client: Client, workbench_id: str, blob: str, *, whole: bool) -> BlobDescription:
    """Describe a blob.

    Args:
        client: The daemon.
        workbench_id: Where they are kept.
        blob: Their hash.
        whole: Whether all of a long text is wanted.
    """
    # A character may lie across two parts.
    decoder, digest = codecs.getincrementaldecoder("utf-8")(), sha256()
    text, size_bytes = "", 0
    try:
        for part, size_bytes, has_more in _read_parts(client, workbench_id, blob):
            digest.update(part)
            piece = decoder.decode(part, final=not has_more)
            text += piece
            if _NO_TEXT.search(piece):
                return BlobDescription(size_bytes)
            # Nothing is said of damage here: the hash is that of all the bytes.
            if has_more and not whole:
                return BlobDescription(size_bytes, text)
    except UnicodeDecodeError:
        return BlobDescription(size_bytes)
    except RequestRefused as refused:
        if refused.error_code not in _FAULTS:
            raise
        return BlobDescription(fault=_FAULTS[refused.error_code])
    fault = "" if digest.hexdigest() == blob else "damaged"
    return BlobDescription(size_bytes, text, is_whole=True, fault=fault)


def save_blob(client: Client, workbench_id: str, blob: str, target: str) -> int:
    """Save a blob to a new file and return its size in bytes.

    Raises:
        Stop: There is such a file, it cannot be written, or the bytes are not those of the hash.
    """
    digest, written = sha256(), 0
    try:
        with open(target, "xb") as file:
            try:
                for part, _, _ in _read_parts(client, workbench_id, blob):
                    written += file.write(part)
                    digest.update(part)
                if digest.hexdigest() != blob:
                    raise Stop(f"the kept bytes are not those of {blob}; see `kbd verify`", FAILED)
            # Also at Ctrl-C: half of a file must not pass for one.
            except BaseException:
                os.unlink(target)
                raise
    except OSError as error:
        raise Stop(f"{target} cannot be written: {error.strerror or error}", FAILED) from error
    return written


def _read_parts(client: Client, workbench_id: str, blob: str) -> Iterator[tuple[bytes, int, bool]]:
    """Yield kept bytes part by part, with the size of the whole and whether more follow."""
    offset, has_more = 0, True
    while has_more:
        params = {
            "workbench_id": workbench_id, "hash": blob, "offset": offset, "limit": PART_BYTES,
        }  # fmt: skip
        found = call(client, "BlobRead", params, slow=True)
        part = base64.b64decode(found["base64"])
        offset, has_more = offset + len(part), bool(found["has_more"])
        yield part, int(found["size_bytes"]), has_more


MAX_FIELD_CHARACTERS = 6000
"""How much of a field, a call or a text is shown, unless all is asked for."""

MAX_BLOBS = 8
"""How many texts that an event names are shown, unless all are asked for."""

HASH_DIGITS = 16
"""How much of a hash is shown: enough to name it."""

MAX_HISTORY_EVENTS = 1000
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
            workbench = find_workbench(client, arguments.workbench)
            log, name = str(workbench["id"]), str(workbench["name"])
            reason = str(workbench.get("reason", ""))
        event = _read_event(client, log, arguments.seq, name, reason)
        if arguments.json:
            say(json.dumps(event))
            return OK
        history = _read_history(client, log, event)
        if arguments.blob:
            _print_blob(client, log, history, arguments.blob, arguments.out)
            return OK
        limit = sys.maxsize if arguments.full else MAX_FIELD_CHARACTERS
        lines = _render_event(name, log, history, limit)
        shown = f"kbd show {log} {arguments.seq}"
        lines += _render_blobs(client, log, shown, _event_blobs(history), limit)
        say("\n".join(lines))
    return OK


def _read_event(client: Client, log: str, seq: int, name: str, reason: str) -> dict[str, Any]:
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
    damage = f"; {line(reason)}" if reason else ""
    raise Stop(f"there is no event {seq} in {line(name)}: {has}{damage}", FAILED)


def _print_blob(
    client: Client, log: str, history: list[dict[str, Any]], begin: str, target: str | None
) -> None:
    """Print bytes that an event names if they are text, or write them to a file."""
    blob = find_hash(_event_blobs(history), begin)
    if target:
        written = save_blob(client, log, blob, target)
        note(f"{size(written)} -> {target}")
        return
    version = describe_blob(client, log, blob, whole=True)
    if version.fault or version.text is None:
        raise Stop(f"{blob} is {version.fault or 'no text; say --out FILE'}", FAILED)
    say(version.text)


def _read_history(client: Client, log: str, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events up to this one, from the begin of its run on, or some if it has none."""
    history: list[dict[str, Any]] = []
    first = int(event["seq"]) + 1
    while first > 1:
        after = max(first - 1 - MAX_HISTORY_EVENTS, 0)
        history[:0] = read_events(client, log, after, first - 1)
        first = after + 1
        begun = any(_is_run_start(each, event) for each in history)
        if begun or "run_id" not in event:
            break
    return history


def _is_run_start(each: dict[str, Any], event: dict[str, Any]) -> bool:
    return each["type"] == "RunStarted" and each.get("run_id") == event.get("run_id")


def _event_blobs(history: list[dict[str, Any]]) -> list[BlobReference]:
    """Return the bytes that an event names and those that its call does, each once."""
    parts = [history[-1].get("data"), *(each.fields for each in related_events(history))]
    found: dict[str, BlobReference] = {}
    for blob in (blob for part in parts for blob in referenced_blobs(part)):
        found.setdefault(blob.hash, blob)
    return list(found.values())


def _render_event(name: str, log: str, history: list[dict[str, Any]], limit: int) -> list[str]:
    """Return what an event says, and what belongs to it."""
    event = history[-1]
    lines = [
        f"event {event['seq']} of {line(name, 60)} ({log}): {event['type']}",
        line(event_title(event), 300),
        "",
        *render_value(_event_context(event)),
        "",
    ]
    lines += _cut_fields(event.get("data") or {}, limit)
    for each in related_events(history):
        lines += ["", f"{each.heading}:"]
        lines += indent_lines(_cut_fields(each.fields, limit))
    return lines


def _cut_fields(record: dict[str, Any], limit: int) -> list[str]:
    """Return the fields of a record, each cut by itself."""
    return [text for field in render_fields(record) for text in truncate_lines(field, limit)]


def _render_blobs(
    client: Client, log: str, shown: str, blobs: list[BlobReference], limit: int
) -> list[str]:
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
    few = blobs if whole else blobs[:MAX_BLOBS]
    versions = [describe_blob(client, log, blob.hash, whole=whole) for blob in few]
    rows = [
        (blob.field, blob.file, _render_size(version), blob.hash[:HASH_DIGITS])
        for blob, version in zip(few, versions, strict=True)
    ]
    lines = ["", render_table(("kept as", "file", "size", "hash"), rows)]
    if len(few) < len(blobs):
        lines.append(f"… and {len(blobs) - len(few)} more; --full tells all")
    lines.append(f"To have one: {shown} --blob HASH --out FILE")
    for blob, version in zip(few, versions, strict=True):
        if version.text and not version.fault:
            heading = " ".join(part for part in (blob.field, blob.file) if part)
            # The beginning of a JSON text cannot be unfolded.
            texts = render_value(version.text) if version.is_whole else version.text.split("\n")
            rest = [] if version.is_whole else ["… --full shows all of it"]
            lines += ["", f"{heading}, {blob.hash[:HASH_DIGITS]}:"]
            lines += indent_lines([*truncate_lines(texts, limit), *rest])
    return lines


def _render_size(version: BlobDescription) -> str:
    return version.fault or size(version.size_bytes)


def _event_context(event: dict[str, Any]) -> dict[str, Any]:
    """Return when an event was, and what it belongs to."""
    where: dict[str, Any] = {"time": event["ts"].replace("T", " ").replace("Z", " UTC")}
    if "run_id" in event:
        where["run"] = event["run_id"]
    place = event_place(event)
    if place.get("text"):
        where["place"] = place["text"]
    if place.get("label"):
        where["item"] = line(place["label"])
    if event_actor(event):
        actor = event["actor"]
        host = f" for {line(actor['host'])}" if actor.get("host") else ""
        where["asked by"] = f"{line(event_actor(event))}{host}, connection {actor['connection']}"
    if "causation_id" in event:
        where["follows from"] = f"event {event['causation_id'].rpartition(':')[2]}"
    return where
