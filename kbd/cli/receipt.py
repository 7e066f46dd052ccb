"""`kbd receipt`: show what a publish changed, give the proof away, check one."""

import argparse
import base64
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect, resolve_home
from kbd.cli.names import find_workbench
from kbd.cli.new_file import refuse_home, write_below
from kbd.cli.pages import all_pages
from kbd.cli.terminal import line, note, say, size
from kbd.client.blocking import Client

__all__ = ["command"]

ACTIONS = ("show", "save", "verify")

PIECE_BYTES = 1 << 20
"""How much of a document or a file is asked for at a time."""

MAX_SHOWN = 20
"""Entries of a list that are shown."""

_NOUNS = {"cells": "cell", "rows": "row", "lines": "line"}

_UNREAD = {
    "large": "it is large", "damaged": "it cannot be read", "time": "it took too long",
    "worker": "what reads it died of it",
}  # fmt: skip

_TYPES = {
    "n": "number", "s": "text", "str": "text", "inlineStr": "text", "b": "true or false",
    "e": "error", "d": "date",
}  # fmt: skip


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd receipt` and return what runs it."""
    parser.epilog = """\
examples:
  kbd receipt show taxes                     what the newest publish changed, by which calls
  kbd receipt show taxes c1f2e --json        of another publish, by its checkpoint
  kbd receipt save taxes --to proof          receipt, versions before, after and between, checker
  kbd receipt verify proof                   recompute all of it; no daemon is needed
  kbd receipt verify receipt.json OLD NEW    with the file before and after

`verify` takes receipts, files and folders; versions are found by their hashes. It uses none of the
code that edits files, and runs nothing that lies in a folder. In one of your own `python3
verify.pyz` does the same without kbd: Python runs what it is given, so not in a stranger's.
Its exit codes: 0 all that is claimed was checked and is true, 1 something is false, 2 usage,
5 nothing is false, but something could not be checked, because a version is not at hand."""
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument(
        "what", nargs="+", metavar="WB [CHECKPOINT] | FILES",
        help="a workbench, and a publish of it (default: the newest); for `verify` what to check",
    )  # fmt: skip
    parser.add_argument("--to", metavar="DIR", help="the new folder that `save` writes")
    parser.add_argument("--json", action="store_true", help="`show` and `verify` as JSON")
    return _receipt


def _receipt(arguments: argparse.Namespace) -> int:
    if arguments.action == "verify":
        return _verify(arguments)
    if len(arguments.what) > 2:
        raise Stop(f"which? kbd receipt {arguments.action} WB [CHECKPOINT]", USAGE)
    if arguments.action == "save" and not arguments.to:
        raise Stop("where to? kbd receipt save WB [CHECKPOINT] --to DIR", USAGE)
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.what[0])["id"])
        params = {"workbench_id": workbench_id}
        if len(arguments.what) == 2:
            params["checkpoint_id"] = _find_checkpoint(client, workbench_id, arguments.what[1])
        found = call(client, "ReceiptGet", params, slow=True)
        data = _read_blob(client, workbench_id, found["hash"])
        receipt = json.loads(data)
        if arguments.action == "save":
            _save(client, workbench_id, receipt, data, arguments.to, resolve_home(arguments.home))
            return OK
    if arguments.json:
        say(data.decode().rstrip("\n"))
        return OK
    for text in _render(receipt):
        say(text)
    say(f"sha256 {found['hash']}, {size(found['size_bytes'])}")
    return OK


def _verify(arguments: argparse.Namespace) -> int:
    from kbd.core.audit.receipt_check.command import run  # noqa: PLC0415 - 40 ms, for `verify` only
    from kbd.core.audit.receipt_folder import load_checks  # noqa: PLC0415 - likewise

    return run(arguments.what, as_json=arguments.json, checks=load_checks())


def _find_checkpoint(client: Client, workbench_id: str, named: str) -> str:
    """Return the checkpoint whose id begins as named.

    Raises:
        Stop: None or several are meant.
    """
    listed = all_pages(client, "CheckpointsList", {"workbench_id": workbench_id}, "checkpoints")
    found = [str(each["checkpoint_id"]) for each in listed]
    meant = [each for each in found if each.startswith(named)]
    if named in meant or len(meant) == 1:
        return named if named in meant else meant[0]
    msg = f"several begin with {named}: {', '.join(meant)}" if meant else f"there is no {named}"
    raise Stop(msg, FAILED)


def _read_blob(client: Client, workbench_id: str, sha256: str) -> bytes:
    """Return the bytes of a blob, compared with its hash.

    Raises:
        Stop: They are not what they were.
    """
    data = bytearray()
    has_more = True
    while has_more:
        params = {
            "workbench_id": workbench_id, "hash": sha256, "offset": len(data), "limit": PIECE_BYTES,
        }  # fmt: skip
        piece = call(client, "BlobRead", params, slow=True)
        data += base64.b64decode(piece["base64"])
        has_more = piece["has_more"]
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Stop(
            f"the stored bytes of {sha256[:16]} are damaged; `kbd verify` tells more", FAILED
        )
    return bytes(data)


def _save(
    client: Client,
    workbench_id: str,
    receipt: dict[str, Any],
    data: bytes,
    folder: str,
    home: str,
) -> None:
    """Write a receipt with all versions that it tells of to a new folder, not in kbd's home.

    Raises:
        Stop: The folder is there, or cannot be written.
    """
    from kbd.core.runtime.held_folder import hold_named  # noqa: PLC0415 - as below

    there = os.path.dirname(os.path.abspath(folder))
    # Of a path in the home no folder is made either.
    while not os.path.exists(there):
        there = os.path.dirname(there)
    try:
        with hold_named(there) as held:
            refuse_home(held, home, folder)
        os.makedirs(folder)
    except FileExistsError as error:
        raise Stop(f"{folder} exists; nothing is overwritten", USAGE) from error
    except OSError as error:
        raise Stop(f"{folder} cannot be made: {error.strerror}", FAILED) from error
    try:
        with hold_named(os.path.abspath(folder)) as held:
            refuse_home(held, home, folder)
            count = _save_versions(client, workbench_id, receipt, data, held)
    except BaseException as error:
        # It was made here, a moment ago: with half of it in the way nobody could try again.
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise Stop(f"{folder} cannot be written: {error.strerror}", FAILED) from error
        raise
    say(f"{folder}: receipt.json, {count} file versions, verify.pyz")
    say(f"To verify: kbd receipt verify {folder}, or python3 {os.path.join(folder, 'verify.pyz')}")


def _save_versions(
    client: Client, workbench_id: str, receipt: dict[str, Any], data: bytes, folder: int
) -> int:
    """Write a receipt into a held folder, and return how many versions lie beside it."""
    from kbd.core.audit.receipt_folder import checker_file  # noqa: PLC0415 - 20 ms, for `save` only
    from kbd.core.runtime.held_folder import make_below  # noqa: PLC0415 - likewise

    count = 0
    for sha256, name in _versions(receipt):
        try:
            version = _read_blob(client, workbench_id, sha256)
        except Stop as fault:
            # A connection that broke is no fault of the version's.
            if fault.code != FAILED or not name.startswith("between/"):
                raise
            # Without it nothing proves which call changed what; the changes are proven.
            note(f"{name} is left out: {fault.message}")
            continue
        below, _, last = name.rpartition("/")
        place = make_below(folder, below, lambda each, within: os.mkdir(each, dir_fd=within))
        try:
            write_below(place, last, version)
        finally:
            os.close(place)
        count += 1
    write_below(folder, "verify.pyz", checker_file())
    # Last: a folder that holds a receipt is whole.
    write_below(folder, "receipt.json", data)
    return count


def _versions(receipt: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the hashes of all versions, each with the name that it is saved under."""
    seen: set[str] = set()
    for file in receipt["files"]:
        old = file.get("previous_path") or file.get("beside") or file["path"]
        ends = set()
        for side, name in (("before", old), ("after", file["path"])):
            if file[side] is not None:
                ends.add(file[side]["sha256"])
                yield file[side]["sha256"], f"{side}/{name}"
        for step in file["steps"]:
            for sha256 in (step["before"], step["after"]):
                if sha256 is not None and sha256 not in ends | seen:
                    seen.add(sha256)
                    yield sha256, f"between/{sha256}"


def _render(receipt: dict[str, Any]) -> Iterator[str]:
    publish = receipt["publish"]
    seqs = f"events {publish['intended']['seq']} to {publish['completed']['seq']}"
    yield (
        f"{publish['kind']} {publish['checkpoint_id']}, {_time(publish['time'])}, {seqs} of "
        f"{receipt['workbench']['id']} ({line(receipt['workbench']['name'], 40)})"
    )
    for file in receipt["files"]:
        yield ""
        yield from _render_file(file)
    yield ""


def _render_file(file: dict[str, Any]) -> Iterator[str]:
    sides = [
        f"{size(file[side]['size_bytes'])} {file[side]['sha256'][:16]}" if file[side] else "nothing"
        for side in ("before", "after")
    ]
    previous = f" from {line(file['previous_path'])}" if "previous_path" in file else ""
    yield f"{line(file['path'])}  {file['change']}{previous}  {' -> '.join(sides)}"
    for step in file["steps"]:
        yield f"  {_render_step(step)}"
    if file["steps"] and not file["steps_complete"]:
        yield "  which of these made what is not told: not all versions could be compared"
    inside = file.get("inside", {})
    if inside.get("unread"):
        yield f"  told as a whole: {_UNREAD.get(inside['unread'], inside['unread'])}"
    elif inside.get("kind") == "file":
        yield "  told as a whole"
    elif inside.get("kind") == "package":
        yield from _render_parts(inside["parts"])
    elif inside.get("kind") == "lines":
        yield from _render_lists(inside["lists"])


def _render_step(step: dict[str, Any]) -> str:
    """Tell of a step: who made it, when, where it is in the log."""
    told = f"event {step['seq']}: {_maker(step)}, {_time(step['time'])}"
    if "repeats" in step:
        first = step["repeats"]
        told += f", again what event {first['seq']} did: {_maker(first)}, {_time(first['time'])}"
    return told


def _maker(step: dict[str, Any]) -> str:
    who = step["kind"].replace("_", " ")
    if step["kind"] in ("tool_call", "client_call"):
        who = line(step.get("tool") or "a tool", 60)
    run = f", run {step['run_id']}" if "run_id" in step else ""
    item = f", item {step['item']}" if "item" in step else ""
    return f"{who}{run}{item}"


def _time(time: str) -> str:
    """Return a time to the second: what is proven may matter to it."""
    return f"{time[:19].replace('T', ' ')} UTC"


def _render_parts(parts: list[dict[str, Any]]) -> Iterator[str]:
    same = sum(part["status"] == "identical" for part in parts)
    yield f"  {same} of {len(parts)} parts identical"
    for part in parts:
        if part["status"] == "identical":
            continue
        title = f" ({line(part['title'], 40)})" if part.get("title") else ""
        yield f"  {line(part['part'], 80)}{title} {part['status']}{_by(part['by'])}"
        inside = part.get("inside", {})
        if inside.get("unread"):
            yield f"    told as a whole: {_UNREAD.get(inside['unread'], inside['unread'])}"
        else:
            for text in _render_lists(inside.get("lists", {})):
                yield f"  {text}"


def _by(steps: list[int]) -> str:
    known = [str(step) for step in steps if step]
    return f" by event{'s' if len(known) > 1 else ''} {', '.join(known)}" if known else ""


def _render_lists(lists: dict[str, Any]) -> Iterator[str]:
    """Tell of the lists of a part: the entries that people look for, the others by their number."""
    for name, found in lists.items():
        if name == "elements":
            changed = [
                item["element"]
                for stretch in found["stretches"]
                for item in stretch["after"] or stretch["before"]
            ]
            if changed:
                where = "beside them" if len(lists) > 1 else "elements"
                yield f"  {where}: {line(', '.join(dict.fromkeys(changed)), 100)}"
        elif name == "rows":
            if found["total"]:
                yield f"  rows: {found['total']} differ beside their cells"
        elif "listed" in found:
            yield from _render_keyed(_NOUNS[name], found)
        else:
            yield from _render_sequence(name, found)


def _render_keyed(noun: str, found: dict[str, Any]) -> Iterator[str]:
    for entry in found["listed"][:MAX_SHOWN]:
        sides = " -> ".join(_value(entry[side]) for side in ("before", "after"))
        note = _note(entry["before"], entry["after"])
        yield f"  {entry[noun]}: {sides}{note}{_by(entry['by'])}"
    more = found["total"] - min(len(found["listed"]), MAX_SHOWN)
    if more:
        yield f"  and {more} {noun}s more"


def _render_sequence(name: str, found: dict[str, Any]) -> Iterator[str]:
    noun = name.removesuffix("s")
    for stretch in found["stretches"][:MAX_SHOWN]:
        if stretch["after_count"]:
            place = _place(noun, stretch["after_at"], stretch["after_count"])
        else:
            at = stretch["after_at"]
            place = f"after {noun} {at - 1}" if at > 1 else f"before {noun} 1"
        yield f"  {place}{_by(stretch['by'])}"
        before = stretch["before"] if stretch["before_count"] == stretch["after_count"] else []
        for side, sign in (("before", "-"), ("after", "+")):
            for number, item in enumerate(stretch[side][:MAX_SHOWN]):
                other = before[number] if side == "after" and number < len(before) else None
                yield f"    {sign} {_value(item)}{_note(other, item)}{_by(item.get('by', []))}"
            more = stretch[f"{side}_count"] - min(len(stretch[side]), MAX_SHOWN)
            if more:
                yield f"    {sign} and {more} more"
    more = len(found["stretches"]) - MAX_SHOWN
    if more > 0:
        yield f"  and {more} places more"


def _place(noun: str, at: int, count: int) -> str:
    return f"{noun} {at}" if count == 1 else f"{noun}s {at} to {at + count - 1}"


def _value(item: dict[str, Any] | None) -> str:
    """Return the value of an entry as people would write it."""
    if item is None:
        return "nothing"
    if item.get("formula"):
        return line(f"={item['formula']}", 60)
    text = item.get("value", item.get("text", ""))
    named = f"{item['name']}: " if item.get("name") else ""
    return line(f"{named}{text}", 100) if named or text else "(empty)"


def _note(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    """Return what differs between two entries that are written alike, in parentheses, or ""."""
    if before is None or after is None or _value(before) != _value(after):
        return ""
    names = {
        "value": "result" if after.get("formula") else "text", "type": "type",
        "number_format": "number format", "style": "style", "geometry": "place", "text": "text",
    }  # fmt: skip
    found = [
        f"{name} {_fact(key, before)} -> {_fact(key, after)}"
        for key, name in names.items()
        if _fact(key, before) != _fact(key, after)
    ]
    return f" ({line(', '.join(found) or 'in what is not shown here', 100)})"


def _fact(key: str, item: dict[str, Any]) -> str:
    found = item.get(key, "")
    if isinstance(found, dict):
        found = " ".join(f"{name} {value}" for name, value in found.items())
    return _TYPES.get(found, found) if key == "type" else found or "none"
