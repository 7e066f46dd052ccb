"""`kbd verify`: check logs, an exported run or a backup, and say what is wrong and where."""

import argparse
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbd.cli.exits import FAILED, OK, UNREACHABLE, USAGE, Stop
from kbd.cli.link import call, connect, resolve_home
from kbd.cli.names import find_workbench, several_match
from kbd.cli.pages import all_pages
from kbd.cli.terminal import line, say
from kbd.client.blocking import Client
from kbd.errors import KbdError

__all__ = ["ADVICE", "command"]

HEAD_DIGITS = 16
"""How much of the chain's hash is shown: enough to compare by eye; --json has all of it."""

_HEAD = re.compile(r"(\d{1,15}):([0-9a-f]{64})")

_BACKUP = "everything before it can be read; `kbd repair --from BACKUP` may bring the rest back"

_BYTES = "`kbd repair` looks for its bytes, in a backup, too; an exported run may hold them"

ADVICE = {
    "damaged": f"A disk or a program changed bytes: {_BACKUP}.",
    "edited": f"Somebody changed the log on purpose: {_BACKUP}.",
    "truncated": f"The end is gone: {_BACKUP}.",
    "missing": f"Put the file back in its place if you have it. Else {_BACKUP}.",
    "swapped": f"Put every file back under its own name. Else {_BACKUP}.",
    "anchor": "Whether the last events are missing only a head tells that was kept elsewhere, or a"
    " backup: `kbd repair --from BACKUP`.",
    "archive missing": "The file that the workbench is packed in is gone:"
    " `kbd repair --from BACKUP` brings it back.",
    "archive damaged": "The file that the workbench is packed in is not what was packed:"
    " `kbd repair --from BACKUP` brings it back.",
    "blob missing": f"This file version is gone: {_BYTES}.",
    "blob damaged": f"This file version is lost: {_BYTES}.",
    "unknown": "Use the kbd that wrote it, or a newer one: nothing is damaged.",
    "head": "Either the head is of another log, or this one was written anew since: compare it with"
    " a backup or an exported run.",
    "name": "kbd did not write this event: do not use this home, and ask where it came from;"
    " `kbd restore` brings back a backup of your own.",
}
"""What to do about each sort of fault of a log (`kbd.events.frame`)."""

_COPY_ADVICE = "Do not rely on this copy: make it again, or use another one."


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd verify` and return what runs it."""
    parser.epilog = """\
examples:
  kbd verify                           every workbench, and the daemon's own log
  kbd verify taxes
  kbd verify taxes --head 412:9f2c...  as `kbd log taxes --head` printed it on an earlier day
  kbd verify run-2.zip                 an exported run; no daemon is needed. With --head: the
                                       one that `kbd export` printed
  kbd verify ./backup-2026-11          a backup

Where no daemon answers the logs are read without one, and nothing is written.
No program is run that a file or a backup brings: check a stranger's so, not with python3.
Reads everything again and compares checksums, sequence, hash chain, anchor and file versions.
Exits with 1 if something is wrong, and says what sort of harm it is, in which file, at which byte
and event. With --head it also finds a history that somebody wrote anew.
What holds a "/" or ends in .zip is a file or a folder if there is one; any other name is a
workbench first, then `daemon` for the daemon's own log, then a file or a folder."""
    parser.add_argument(
        "target", nargs="?", metavar="WB", help="its id or name, or a path; else all"
    )
    parser.add_argument(
        "--head", metavar="SEQ:HASH", help="a head of the log that was kept elsewhere"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _verify


def _verify(arguments: argparse.Namespace) -> int:
    named, head = arguments.target, _parse_head(arguments.head)
    if head and not named:
        raise Stop("--head is of one log: name the workbench, or `daemon`", USAGE)
    found = _verify_copy_first(named, head) if named else None
    if found is None:
        try:
            found = _verify_logs(arguments, named, head)
        except Stop:
            # No such workbench, or no daemon; a copy needs none.
            if not named or not os.path.exists(named):
                raise
            found = _verify_copy(named, head)
    if arguments.json:
        say(json.dumps({log: verified for log, _, verified in found}))
    else:
        for log, name, verified in found:
            say(_render_verification(log, name, verified))
    return OK if all(verified["ok"] for _, _, verified in found) else FAILED


_Found = list[tuple[str, str, dict[str, Any]]]
"""What was checked, with its name for people, and what was found."""


def _parse_head(text: str | None) -> dict[str, Any]:
    """Return a head that was kept as parameters of `LogVerify`."""
    if text is None:
        return {}
    match = _HEAD.fullmatch(text.strip().lower())
    if match is None:
        raise Stop("a head is a number, a colon and 64 hex digits, as `kbd log --head` says", USAGE)
    return {"seq": int(match[1]), "hash": match[2]}


def _verify_logs(arguments: argparse.Namespace, named: str | None, head: dict[str, Any]) -> _Found:
    try:
        client = connect(arguments)
    except Stop as stop:
        # Where no daemon ever was there is nothing to check.
        log = os.path.join(resolve_home(arguments.home), "daemon", "log")
        if stop.code != UNREACHABLE or not os.path.isdir(log):
            raise
        return _verify_home(arguments, named, head)
    with client:
        return [
            (
                log,
                name,
                call(client, "LogVerify", {"workbench_id": log, **head}, slow=True),
            )
            for log, name in _select_logs(client, named)
        ]


def _select_logs(client: Client, named: str | None) -> list[tuple[str, str]]:
    """The logs that are meant: each id with its name for people."""
    own = ("daemon", "the daemon's own")
    if named is None:
        listed = all_pages(client, "WorkbenchList", None, "workbenches")
        return [*((str(each["id"]), str(each["name"])) for each in listed), own]
    if named == "daemon" and not call(client, "WorkbenchList", {"named": named})["workbenches"]:
        return [own]
    workbench = find_workbench(client, named)
    return [(str(workbench["id"]), str(workbench["name"]))]


def _verify_home(arguments: argparse.Namespace, named: str | None, head: dict[str, Any]) -> _Found:
    """Check logs of a home that no daemon has; none may start meanwhile, and nothing is written.

    Raises:
        Stop: No such log is there, or somebody has the home and does not answer.
    """
    import msgspec  # noqa: PLC0415 - 30 ms, which asking a daemon does not need

    from kbd.core.audit.home_logs import HomeLog, list_logs, verify_home_log  # noqa: PLC0415 - 200 ms
    from kbd.core.runtime.home_lock import HomeLockedError, share_home  # noqa: PLC0415 - with it
    from kbd.core.runtime.paths import Home  # noqa: PLC0415 - likewise
    from kbd.events.anchor import Anchor  # noqa: PLC0415 - likewise

    home = Home.find(os.environ, socket=arguments.socket, home=arguments.home)
    kept = Anchor(head["seq"], bytes.fromhex(head["hash"])) if head else None
    found = []
    try:
        with share_home(home):
            logs = list_logs(home)
            meant = logs.workbenches if named is None else logs.named(named)
            if len(meant) > 1 and named is not None:
                raise Stop(several_match(named, [each.log_id for each in meant]), FAILED)
            rows = list(meant)
            if named is None or (named == "daemon" and not rows):
                rows.append(HomeLog("daemon", "the daemon's own", is_there=True))
            if not rows:
                raise Stop(f"there is no workbench {named} in {home.folder}", FAILED)
            for each in rows:
                verified = _NOT_THERE
                if each.is_there or each.archive is not None:
                    checked = verify_home_log(
                        home, each.log_id, expected_head=kept, archive=each.archive
                    )
                    verified = msgspec.to_builtins(checked)
                found.append((each.log_id, each.name or "name unknown", verified))
    except HomeLockedError as error:
        raise Stop(f"{error}, but nothing answers at {home.socket}", UNREACHABLE) from error
    except KbdError as error:
        raise Stop(f"{error.code}: {error.message}", FAILED) from error
    except OSError as error:
        raise Stop(f"the home {home.folder} cannot be read: {error.strerror}", FAILED) from error
    return found


_NOT_THERE = {
    "ok": False, "seq": 0, "frames": 0, "segments": 0, "blobs": 0, "head": "",
    "faults": [
        {
            "kind": "missing", "file": "log", "offset": 0, "seq": 0,
            "message": "the workbench has no folder, though the daemon's log names it",
        }
    ],
}  # fmt: skip
"""What is told of a workbench without a folder."""


def _verify_copy_first(named: str, head: dict[str, Any]) -> _Found | None:
    """Check a copy if a name must mean one; None if it may mean a workbench."""
    if ("/" in named or named.endswith(".zip")) and os.path.exists(named):
        return _verify_copy(named, head)
    return None


def _verify_copy(named: str, head: dict[str, Any]) -> _Found:
    """Check an exported run or a backup, without a daemon.

    Raises:
        Stop: It is neither, or cannot be read; or a head is given for a backup.
    """
    import msgspec  # noqa: PLC0415 - 30 ms, which checking a log does not need

    from kbd.core.audit.backup import check_backup  # noqa: PLC0415 - 200 ms, likewise
    from kbd.core.audit.case_file import check_case  # noqa: PLC0415 - 80 ms, likewise

    path = Path(named)
    try:
        checked = check_backup(path) if path.is_dir() else check_case(path)
    except KbdError as error:
        raise Stop(f"{error.code}: {error.message}", FAILED) from error
    verified = msgspec.to_builtins(checked)
    if head:
        if checked.kind == "backup":
            raise Stop("--head is of one log; a backup holds several", USAGE)
        if head != {"seq": checked.events, "hash": checked.head}:
            end = f"{checked.events}:{checked.head}"
            message = f"it ends with {end}, not with the head that was kept"
            fault = {"kind": "head", "file": path.name, "offset": 0, "message": message, "seq": 0}
            verified["faults"] = [*verified["faults"], fault]
    return [(named, checked.kind, {"ok": not verified["faults"], **verified})]


def _render_verification(log: str, name: str, verified: dict[str, Any]) -> str:
    """Tell what was found: one line if all is well, else a line a fault, and what to do."""
    title = f"{log} ({line(name, 40)})"
    kind = verified.get("kind")
    if not verified["ok"]:
        kinds = dict.fromkeys(each["kind"] for each in verified["faults"])
        advice = [_COPY_ADVICE] if kind else [ADVICE[each] for each in kinds if each in ADVICE]
        faults = [f"  {_render_fault(each)}" for each in verified["faults"]]
        return "\n".join([f"{title} DAMAGED:", *faults, *(f"  - {text}" for text in advice)])
    if kind:
        head = f", head {verified['head'][:HEAD_DIGITS]}" if verified["head"] else ""
        counts = [(verified["logs"], "log"), (verified["events"], "event")]
        counts.append((verified["blobs"], "blob"))
        held = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
        return f"{title} whole: {held}{head}"
    collected = f" ({verified['collected']} collected)" if verified.get("collected") else ""
    return (
        f"{title} whole: {verified['seq']} events, {verified['frames']} frames, "
        f"{verified['blobs']} blobs{collected}, head {verified['head'][:HEAD_DIGITS]}"
    )


def _render_fault(fault: dict[str, Any]) -> str:
    event = f", event {fault['seq']}" if fault.get("seq") else ""
    return f"{fault['kind']}: {fault['file']}, byte {fault['offset']}{event}: {fault['message']}"
