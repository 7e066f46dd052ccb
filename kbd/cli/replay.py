"""`kbd replay`: walk through a run, restore a moment of it, write it as a page, prove it."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import OK, RequestRefused
from kbd.cli.link import connect
from kbd.cli.names import find_run
from kbd.cli.record_text import indent_lines
from kbd.cli.run_steps import StepReader, read_moment
from kbd.cli.step_text import render_facts, render_headline, render_step
from kbd.cli.terminal import note, say
from kbd.cli.walk_panels import render_state
from kbd.client.blocking import Client

__all__ = ["command"]


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
            from kbd.cli.replay_proof import prove  # noqa: PLC0415 - 9 ms

            return prove(client, run_id, arguments.with_plugin, arguments.json)
        if arguments.html is not None:
            from kbd.cli.replay_page import write_page  # noqa: PLC0415 - 1 ms

            write_page(client, run_id, arguments.html)
            return OK
        if arguments.at is not None:
            return _print_moment(client, str(run["workbench_id"]), arguments)
        book = StepReader(client, run_id)
        start = min(arguments.step or 1, book.total)
        if arguments.json:
            return _print_json(book, start)
        if not _is_interactive():
            return _print(book, start)
        return _walk(book, start)


def _print_moment(client: Client, workbench_id: str, arguments: argparse.Namespace) -> int:
    folder = os.path.abspath(arguments.out) if arguments.out is not None else ""
    found = read_moment(client, workbench_id, arguments.at, folder)
    say(json.dumps(found) if arguments.json else "\n".join(render_state(found)))
    return OK


def _is_interactive() -> bool:
    """Whether there is a terminal to walk in."""
    can_draw = os.environ.get("TERM", "dumb") != "dumb"
    return can_draw and sys.stdin.isatty() and sys.stdout.isatty()


def _walk(book: StepReader, start: int) -> int:
    from kbd.cli.screen import shown  # noqa: PLC0415 - 190 ms, prompt_toolkit
    from kbd.cli.walk import Walk  # noqa: PLC0415 - 20 ms, loaded with it

    return shown(Walk(book, start))


def _print(book: StepReader, start: int) -> int:
    run = book.run
    say(f"run {run['run_id']}, {run['status']}, {book.total} steps")
    say("\n".join(indent_lines(book.request.splitlines())))
    for step in book.steps(start):
        say(f"\n{render_headline(step)}\n    {render_facts(step)}")
        lines = render_step(step, _result(book, step))
        if lines:
            say("\n".join(f"    {one}" for one in lines))
    return OK


def _print_json(book: StepReader, start: int) -> int:
    for step in book.steps(start):
        say(json.dumps(_complete(book, step)))
    return OK


def _result(book: StepReader, step: dict[str, Any]) -> str | None:
    call = step.get("call", {})
    return _text(book, call.get("result", ""), call.get("blob")) or None


def _complete(book: StepReader, step: dict[str, Any]) -> dict[str, Any]:
    """Return a step with the texts of the blobs that its calls name."""
    if call := step.get("call"):
        result = _text(book, call.get("result", ""), call.get("blob"))
        arguments = _text(book, call.get("arguments", ""), call.get("arguments_blob"))
        step = {**step, "call": {**call, "result": result, "arguments": arguments}}
    if (model := step.get("model")) and model.get("calls"):
        calls = [
            {**call, "arguments": _text(book, call.get("arguments", ""), call.get("blob"))}
            for call in model["calls"]
        ]
        step = {**step, "model": {**model, "calls": calls}}
    return step


def _text(book: StepReader, text: str, blob: str | None) -> str:
    if text or not blob:
        return text
    try:
        return book.blob(blob)
    except RequestRefused as refused:
        note(f"blob {blob} is left out: {refused.reason}")
        return ""
