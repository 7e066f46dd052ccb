"""`kbd replay RUN --verify`: have a run's calls repeated, and show what differs."""

import json
from pathlib import Path
from textwrap import indent
from typing import Any

from kbd.cli.exits import FAILED, OK, UNREACHABLE, Stop
from kbd.cli.link import connection_lost, request_refused
from kbd.cli.terminal import counted, line, note, render_table, say
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError, RemoteError

__all__ = ["prove"]

HASH_DIGITS = 12
"""How much of a hash is shown: enough to compare by eye; --json has all of it."""

MAX_OTHERS = 50
"""Calls behind the first that are listed."""


def prove(client: Client, run_id: str, with_plugin: str | None, as_json: bool) -> int:  # noqa: FBT001 - fixed with who calls it
    """Do a run's calls again, print what came of it, and return the exit code.

    Args:
        client: The daemon.
        run_id: The run.
        with_plugin: A folder or a wheel with another version of a plugin, as the person wrote it.
        as_json: Whether to print the daemon's answer as it is.

    Raises:
        Stop: There is no such run, or it cannot be proved.
    """
    params = {"run_id": run_id}
    if with_plugin is not None:
        params["with_plugin"] = str(Path(with_plugin).expanduser().absolute())
    try:
        # However long it takes: about as long as the tools of the run took.
        found: dict[str, Any] = client.send("ReplayRun", params, timeout=None)
    except RemoteError as error:
        raise request_refused(error) from error
    except ConnectionLostError as error:
        msg = f"{connection_lost(error).message}\nThen: kbd replay {run_id} --verify"
        raise Stop(msg, UNREACHABLE) from error
    if as_json:
        say(json.dumps(found))
    else:
        _print_proof(found)
    return FAILED if found["divergences"] else OK


def _print_proof(found: dict[str, Any]) -> None:
    divergences: list[dict[str, Any]] = found["divergences"]
    say(_render_summary(found))
    for skipped in found["skipped"]:
        say(f"  skipped: {line(skipped['tool'], 40)} (event {skipped['seq']}): {skipped['reason']}")
    _print_plugins(found["plugins"])
    if not divergences:
        return
    first, *others = divergences
    say()
    say(f"The first: {_render_heading(first)}")
    _print_diff(first)
    if others:
        say()
        say(f"And {counted(len(others), 'more call')}:")
        rows = [
            (
                str(each["seq"]), each["tool"], _render_place(each), ", ".join(each["what"]),
                _first_difference(each),
            )
            for each in others[:MAX_OTHERS]
        ]  # fmt: skip
        say(render_table(("Event", "Tool", "Where", "Differs in", "First of it"), rows))
        if len(others) > MAX_OTHERS:
            say(f"… and {len(others) - MAX_OTHERS} more")
    workbench = found["run_id"].partition("-")[0]
    note(f"`kbd show {workbench} {first['seq']}` shows what was recorded; --json has all of this.")


def _render_summary(found: dict[str, Any]) -> str:
    calls, equal = found["calls"], found["equal"]
    held = [
        counted(found["files"], "file version"),
        counted(found["refusals"], "refusal"),
        f"{len(found['skipped'])} skipped",
    ]
    done = f"{counted(calls, 'call')} done again"
    if not calls:
        return f"{found['run_id']}: no call to do again ({held[-1]})"
    if calls == equal:
        return f"{done}, all came out as recorded ({', '.join(held)})"
    return f"{done}, {equal} came out as recorded, {calls - equal} did not ({', '.join(held)})"


def _print_plugins(plugins: list[dict[str, Any]]) -> None:
    """Say which plugins are not the recorded ones."""
    for each in plugins:
        if each["recorded_sha256"] and each["recorded_sha256"] != each["sha256"]:
            then = f"{each['recorded_version']} ({each['recorded_sha256'][:HASH_DIGITS]})"
            now = (
                f"{each['version']} ({each['sha256'][:HASH_DIGITS]})"
                if each["sha256"]
                else "missing"
            )
            package = line(each["package"], 40)
            say(f"  {package} is not the one that was recorded: {then} then, {now} now")


def _render_heading(each: dict[str, Any]) -> str:
    entry = f"call {each['entry_id']}, " if each["entry_id"] else ""
    return (
        f"{entry}{line(each['tool'], 40)} (event {each['seq']}, {_render_place(each)}) differs in "
        f"{', '.join(each['what'])}"
    )


def _render_place(each: dict[str, Any]) -> str:
    return f"item {each['item']}" if each["item"] else str(each["phase"])


def _print_diff(each: dict[str, Any]) -> None:
    for field in each["fields"]:
        say(f"  {line(field['path'])}")
        say(f"    recorded  {line(field['recorded'], 400) or '(nothing)'}")
        say(f"    now       {line(field['replayed'], 400) or '(nothing)'}")
    for file in each["files"]:
        say(f"  {line(file['path'])}: {_render_file_diff(file)}")
        rows = [
            (part["part"], _short_hash(part["recorded"]), _short_hash(part["replayed"]))
            for part in file["parts"]
        ]
        if rows:
            say(indent(render_table(("Part", "Recorded", "Now"), rows), "    "))
    if each["plugins"]:
        say(f"  done by what is not the recorded version: {', '.join(each['plugins'])}")


def _render_file_diff(file: dict[str, Any]) -> str:
    if not file["replayed"]:
        return "was written then, is not now"
    if not file["recorded"]:
        return "was not written then, is now"
    told = [f"recorded {_short_hash(file['recorded'])}, now {_short_hash(file['replayed'])}"]
    if file["offset"] >= 0:
        told.append(f"first at byte {file['offset']:,}")
    if file["note"]:
        told.append(line(file["note"]))
    return "; ".join(told)


def _first_difference(each: dict[str, Any]) -> str:
    """Name one thing that differs: a field, or a part of a file."""
    for file in each["files"]:
        parts = file["parts"]
        return f"{file['path']}: {parts[0]['part']}" if parts else str(file["path"])
    return str(each["fields"][0]["path"]) if each["fields"] else ""


def _short_hash(digest: str) -> str:
    return digest[:HASH_DIGITS] if digest else "(none)"
