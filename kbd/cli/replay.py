"""`kbd replay`: walk through a run, restore a moment of it, write it as a page, prove it."""

import argparse
import base64
import json
import os
import sys
from collections.abc import Callable, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any

from kbd.cli.exits import FAILED, OK, UNREACHABLE, RequestRefused, Stop
from kbd.cli.link import call, connect, connection_lost, request_refused, resolve_home
from kbd.cli.names import find_run
from kbd.cli.new_file import check_new_file, write_new_file
from kbd.cli.run_steps import StepReader, read_moment
from kbd.cli.step_text import indent_lines, render_facts, render_headline, render_step
from kbd.cli.terminal import counted, line, note, render_table, say, size
from kbd.cli.walk import Walk, render_state
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError, RemoteError

# Only `--html` reads these records, which take 12 ms to import.
if TYPE_CHECKING:
    from kbd.requests.replays import Step, StepsFound
    from kbd.types import BlobHash

__all__ = ["command", "prove", "write_page"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd replay` and return what runs it."""
    parser.epilog = """\
examples:
  kbd replay taxes                       walk through the newest run; ? shows the keys
  kbd replay taxes-2 | less              all steps of the second run as text
  kbd replay taxes --at 57               how all stood after event 57
  kbd replay taxes --at 57 --out then    the same, with the files, in a new folder
  kbd replay taxes --html taxes.html     one page that opens offline
  kbd replay taxes --verify              do every tool call again and compare"""
    parser.add_argument("run", metavar="RUN", help="its id; or WB for its newest run, or WB-N")
    parser.add_argument("--step", type=_positive, metavar="N", help="begin at step N")
    parser.add_argument("--at", type=_positive, metavar="SEQ", help="tell how all stood then")
    parser.add_argument("--out", metavar="DIR", help="with --at: write that to a new folder")
    parser.add_argument("--html", metavar="FILE", help="write the run as one page")
    parser.add_argument("--verify", action="store_true", help="do every tool call again")
    parser.add_argument("--with-plugin", metavar="PATH", help="with --verify: another version")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, complete")

    def replay(arguments: argparse.Namespace) -> int:
        _check(parser, arguments)
        return _replay(arguments)

    return replay


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "number from 1"  # argparse names it in its message


def _check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End with a usage error if what is asked for does not go together."""
    modes = [
        flag
        for flag, given in (
            ("--at", arguments.at is not None),
            ("--html", arguments.html is not None),
            ("--verify", arguments.verify),
        )
        if given
    ]
    if len(modes) > 1:
        parser.error(f"{' and '.join(modes)} do not go together")
    if arguments.out is not None and arguments.at is None:
        parser.error("--out needs --at SEQ")
    if arguments.with_plugin is not None and not arguments.verify:
        parser.error("--with-plugin needs --verify")
    if arguments.step is not None and modes:
        parser.error(f"--step and {modes[0]} do not go together")
    if arguments.json and arguments.html is not None:
        parser.error("--json and --html do not go together")


def _replay(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        run = find_run(client, arguments.run)
        run_id = str(run["run_id"])
        if arguments.verify:
            return prove(client, run_id, arguments.with_plugin, arguments.json)
        if arguments.html is not None:
            write_page(client, run_id, arguments.html, resolve_home(arguments.home))
            return OK
        if arguments.at is not None:
            return _print_moment(client, str(run["workbench_id"]), arguments)
        reader = StepReader(client, run_id)
        start = min(arguments.step or 1, reader.total)
        if arguments.json:
            return _print_json(reader, start)
        if not _is_interactive():
            return _print(reader, start)
        return _walk(reader, start)


def _print_moment(client: Client, workbench_id: str, arguments: argparse.Namespace) -> int:
    folder = os.path.abspath(arguments.out) if arguments.out is not None else ""
    found = read_moment(client, workbench_id, arguments.at, folder)
    say(json.dumps(found) if arguments.json else "\n".join(render_state(found)))
    return OK


def _is_interactive() -> bool:
    """Whether there is a terminal to walk in."""
    can_draw = os.environ.get("TERM", "dumb") != "dumb"
    return can_draw and sys.stdin.isatty() and sys.stdout.isatty()


def _walk(reader: StepReader, start: int) -> int:
    from kbd.cli.screen import run_screen  # noqa: PLC0415 - 190 ms, prompt_toolkit

    return run_screen(Walk(reader, start))


def _print(reader: StepReader, start: int) -> int:
    run = reader.run
    say(f"run {run['run_id']}, {run['status']}, {reader.total} steps")
    say("\n".join(indent_lines(reader.request.splitlines())))
    for step in reader.steps(start):
        say(f"\n{render_headline(step)}\n    {render_facts(step)}")
        lines = render_step(step, _result(reader, step))
        if lines:
            say("\n".join(f"    {one}" for one in lines))
    return OK


def _print_json(reader: StepReader, start: int) -> int:
    for step in reader.steps(start):
        say(json.dumps(_complete(reader, step)))
    return OK


def _result(reader: StepReader, step: dict[str, Any]) -> str | None:
    call = step.get("call", {})
    return _text(reader, call.get("result", ""), call.get("blob")) or None


def _complete(reader: StepReader, step: dict[str, Any]) -> dict[str, Any]:
    """Return a step with the texts of the blobs that its calls name."""
    if call := step.get("call"):
        result = _text(reader, call.get("result", ""), call.get("blob"))
        arguments = _text(reader, call.get("arguments", ""), call.get("arguments_blob"))
        step = {**step, "call": {**call, "result": result, "arguments": arguments}}
    if (model := step.get("model")) and model.get("calls"):
        calls = [
            {**call, "arguments": _text(reader, call.get("arguments", ""), call.get("blob"))}
            for call in model["calls"]
        ]
        step = {**step, "model": {**model, "calls": calls}}
    return step


def _text(reader: StepReader, text: str, blob: str | None) -> str:
    if text or not blob:
        return text
    try:
        return reader.blob(blob)
    except RequestRefused as refused:
        note(f"blob {blob} is left out: {refused.reason}")
        return ""


STEPS_AT_ONCE = 1000
"""The most that a request may ask for."""

BLOB_BYTES = 1024 * 1024
"""How much of one blob is read: far more than the page shows of a text."""


def write_page(client: Client, run_id: str, path: str, home: str) -> None:
    """Write a run as one HTML page to a new file, whole or not at all, and say so.

    Raises:
        RequestRefused: There is no such run, or its log is damaged.
        Stop: The file exists, cannot be written, or lies in the home of kbd.
    """
    check_new_file(path)
    from kbd.core.audit.page.document import page_of  # noqa: PLC0415 - 90 ms

    found = _read_steps(client, run_id)
    contents = _read_blobs(client, found.run.workbench_id, found.steps)
    page = page_of(found.run, found.request, found.steps, contents).encode()
    write_new_file(path, page, home)
    say(f"{path} ({size(len(page))})")


def _read_steps(client: Client, run_id: str) -> "StepsFound":
    """Read all steps of a run; of one that is under way, as many as there are at the end."""
    import msgspec  # noqa: PLC0415 - 8 ms

    from kbd.requests.replays import Step, StepsFound  # noqa: PLC0415 - 12 ms

    steps: list[Step] = []
    while True:
        asked = {"run_id": run_id, "after": len(steps), "limit": STEPS_AT_ONCE}
        found = msgspec.convert(call(client, "ReplaySteps", asked, slow=True), StepsFound)
        steps.extend(found.steps)
        if not found.steps or len(steps) >= found.total:
            return msgspec.structs.replace(found, steps=tuple(steps))


def _read_blobs(
    client: Client, workbench_id: str, steps: "Sequence[Step]"
) -> "dict[BlobHash, str]":
    """Read the blobs that the page may hold; what cannot be read is told, and left out."""
    from kbd.core.audit.page.run_index import CONTENTS_LIMIT_CHARACTERS, blobs_of  # noqa: PLC0415 - loaded

    contents: dict[BlobHash, str] = {}
    room = CONTENTS_LIMIT_CHARACTERS
    for blob in blobs_of(steps):
        if room <= 0:
            break
        asked = {"workbench_id": workbench_id, "hash": blob, "limit": BLOB_BYTES}
        try:
            part = call(client, "BlobRead", asked, slow=True)
        except RequestRefused as refused:
            note(f"Blob {blob} is not in the page: {refused.reason}")
            continue
        contents[blob] = base64.b64decode(part["base64"]).decode("utf-8", "replace")
        room -= len(contents[blob])
    return contents


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
        params["with_plugin"] = os.path.abspath(os.path.expanduser(with_plugin))
    try:
        # However long it takes: about as long as the tools of the run took.
        found: dict[str, Any] = client.send("ReplayRun", params, timeout=None)
    except RemoteError as error:
        raise request_refused(error) from error
    except ConnectionLostError as error:
        msg = f"{connection_lost(error).message}\nthen: kbd replay {run_id} --verify"
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
    for table in each["readings"]:
        _print_reading(table)
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


def _print_reading(table: dict[str, Any]) -> None:
    """Say how a table was read, and how it is read now."""
    named = line(table["path"]) + (f", sheet {line(table['sheet'])}" if table["sheet"] else "")
    if table["is_recorded"]:
        say(f"  {named} was read differently:")
    elif table["fields"]:
        say(f"  {named} was read differently, as the results of the run show:")
    else:
        say(f"  {named}: the log does not have how it was read, and no result shows a difference")
    for field in table["fields"]:
        then, now = field["recorded"] or "(nothing)", field["replayed"] or "(nothing)"
        say(f"    {line(field['path'])}: {line(then, 200)} then, {line(now, 200)} now")
    if not table["is_recorded"]:
        # What the log does not have cannot be compared: what counts now is said instead.
        settings = [
            f"{name} {json.dumps(text, ensure_ascii=False)}"
            for name, text in table["settings"].items()
        ]
        say(f"    it is read now with {line('; '.join(settings), 400)}")


def _render_file_diff(file: dict[str, Any]) -> str:
    if not file["replayed"]:
        return "was written then, is not now"
    if not file["recorded"]:
        return "was not written then, is now"
    parts = [f"recorded {_short_hash(file['recorded'])}, now {_short_hash(file['replayed'])}"]
    if file["offset"] >= 0:
        parts.append(f"first at byte {file['offset']:,}")
    if file["note"]:
        parts.append(line(file["note"]))
    return "; ".join(parts)


def _first_difference(each: dict[str, Any]) -> str:
    """Name one thing that differs: how a table is read, a part of a file, or a field."""
    for table in each["readings"]:
        if table["fields"]:
            return f"{table['path']}: {table['fields'][0]['path']}"
    for file in each["files"]:
        parts = file["parts"]
        return f"{file['path']}: {parts[0]['part']}" if parts else str(file["path"])
    return str(each["fields"][0]["path"]) if each["fields"] else ""


def _short_hash(digest: str) -> str:
    return digest[:HASH_DIGITS] if digest else "(none)"
