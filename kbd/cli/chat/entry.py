"""Entry point of `kbd chat`: finds the workbench or folder, and reads from a person or a pipe."""

import argparse
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from kbd.cli.chat.folder import find_or_create, import_folder, workbench_folder
from kbd.cli.chat.session import READING, ChatFolder, ChatSession, show_busy
from kbd.cli.chat.slash_commands import NO_MODEL, can_converse, handle_line, resolve_model
from kbd.cli.exits import CANCELLED, OK, USAGE, Stop
from kbd.cli.link import call, resolve_home
from kbd.cli.names import find_workbench
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import counted, format_time, is_interactive, line, note, render_table
from kbd.client.blocking import Client

__all__ = ["command", "join_continuations"]

MAX_LISTED = 9
"""How many workbenches are offered where none is named."""


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd chat` and return what runs it."""
    parser.epilog = """\
examples:
  kbd chat taxes
  kbd chat ./receipts --model openai:NAME
  kbd chat receipts/ --index-dir receipts/index/v2 --verbose
  echo "What did we spend in March?" | kbd chat taxes > answer.txt
  printf '%s\\n' "total by month" "/publish out" | kbd chat taxes --yes

A folder's readable files are copied into a workbench of its own, which is found again by the
folder's path; kbd never writes in the folder. `/help` lists what can be typed. From a pipe each
line is a message or a command; stdout has the answers, and the exit code is that of the first
line that failed."""
    parser.add_argument(
        "place", nargs="?", metavar="WB|FOLDER", help="a workbench, or a folder of files"
    )
    parser.add_argument("--model", "--model_name", metavar="ID", help="provider:model, or NAME")
    parser.add_argument(
        "--workspace-dir", "--workspace_dir", metavar="DIR", help="a folder, as WB|FOLDER"
    )
    parser.add_argument(
        "--index-dir", "--index_dir", metavar="DIR", help="where the index for search lies"
    )
    parser.add_argument("--verbose", action="store_true", help="show tool calls in full")
    parser.add_argument("--yes", action="store_true", help="answer every question with yes")
    return _chat


def _chat(arguments: argparse.Namespace) -> int:
    if arguments.place and arguments.workspace_dir:
        raise Stop("name a workbench or a folder once", USAGE)
    # Stdout may be a file that takes the answers while a person types.
    is_typed = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
    session = ChatSession(arguments, connect_or_start(arguments))
    try:
        _open_session(session, arguments, is_typed=is_typed)
        if not is_typed:
            return _run_lines(session, _read_lines())
        # Only a terminal pays for it.
        from kbd.cli.chat.prompt import Prompt, history_at, run_prompt  # noqa: PLC0415 - 110 ms

        return run_prompt(session, Prompt(session, history_at(arguments.home)))
    finally:
        session.drop()


def _open_session(session: ChatSession, arguments: argparse.Namespace, *, is_typed: bool) -> None:
    """Find the workbench, bring in the folder, choose model and index; tell how it stands."""
    workbench, folder = _resolve_target(session.client, arguments)
    session.workbench_id, session.name = str(workbench["id"]), str(workbench["name"])
    if arguments.index_dir:
        session.index_dir = os.path.abspath(os.path.expanduser(arguments.index_dir))
    if folder is not None:
        left_out = (session.index_dir, resolve_home(arguments.home))
        inner = tuple(Path(each).resolve() for each in left_out if each)
        session.folder = ChatFolder(folder, inner)
        import_folder(session, session.folder)
    if arguments.model:
        chosen = resolve_model(session.client, arguments.model)
        session.ask("WorkshopSetActiveModel", model_id=chosen)
    if session.index_dir:
        with show_busy(READING):
            session.ask("WorkspaceReloadIndex", index_dir=session.index_dir, slow=True)
    state = session.state()
    if is_typed:
        files = counted(len(session.files()), "file")
        note(f"{line(session.name)} ({session.workbench_id}), {files}. /help tells what to type.")
    if not can_converse(str(state["active_model_id"])):
        note(NO_MODEL)
    if state["run_id"]:
        note("A run is under way here; until it has ended, messages are refused.")


def _resolve_target(
    client: Client, arguments: argparse.Namespace
) -> tuple[dict[str, Any], Path | None]:
    """Return the workbench that is meant, and the folder that it belongs to if one was named."""
    named = arguments.workspace_dir or arguments.place or _choose_workbench(client)
    path = Path(os.path.expanduser(named))
    if os.path.isdir(path) and (arguments.workspace_dir or _is_folder(client, named)):
        return find_or_create(client, path.resolve()), path.resolve()
    if arguments.workspace_dir:
        raise Stop(f"{line(named)} is not a folder", USAGE)
    workbench = find_workbench(client, named)
    return workbench, workbench_folder(str(workbench["name"]))


def _is_folder(client: Client, named: str) -> bool:
    """Whether a folder is meant by what could also be a workbench's name."""
    if named in {".", ".."} or os.sep in named:
        return True
    found = call(client, "WorkbenchList", {"named": named})["workbenches"]
    return not any(named in {each["id"], each["name"]} for each in found)


def _choose_workbench(client: Client) -> str:
    """Have a person choose among the workbenches that were used last.

    Raises:
        Stop: Nobody can be asked, or nothing was chosen.
    """
    usage = "name a workbench or a folder: kbd chat WB|FOLDER (`.` is this one)"
    if not is_interactive():
        raise Stop(usage, USAGE)
    asked = {"order": "updated", "descending": True, "limit": MAX_LISTED}
    found = call(client, "WorkbenchList", asked)["workbenches"]
    rows = [
        (str(number), line(each["name"], 48), str(each["files"]), format_time(each["updated_at"]))
        for number, each in enumerate(found, 1)
    ]
    if rows:
        note(render_table(("", "workbench", "files", "changed (UTC)"), rows))
    print("Number, name or folder: ", end="", file=sys.stderr, flush=True)
    reply = sys.stdin.readline().strip()
    if not reply:
        raise Stop(usage, USAGE)
    # `isdigit` alone is true of signs that int refuses, such as a superscript two.
    if reply.isascii() and reply.isdigit() and 1 <= int(reply) <= len(found):
        return str(found[int(reply) - 1]["id"])
    return reply


def _read_lines() -> Iterable[str]:
    """Return the lines of stdin; what is not UTF-8 in them is marked, not fatal."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return sys.stdin


def _run_lines(session: ChatSession, lines: Iterable[str]) -> int:
    """Do each line in turn, and return the code of the first that failed.

    What fails does not keep the lines after it from being done; Ctrl-C does.
    """
    first = OK
    for text in join_continuations(lines):
        code = handle_line(session, text)
        first = first or code
        if session.is_over or code == CANCELLED:
            break
    return first


def join_continuations(lines: Iterable[str]) -> Iterator[str]:
    """Join continued lines: one that ends in a backslash continues in the next."""
    whole = ""
    for each in lines:
        text = each.rstrip("\r\n")
        if text.endswith("\\"):
            whole += f"{text[:-1]}\n"
            continue
        whole += text
        if whole.strip():
            yield whole
        whole = ""
    if whole.strip():
        yield whole
