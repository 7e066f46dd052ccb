"""Slash commands that show something: files, documents, tools, search, history, cost."""

import json
from typing import Any

from kbd.cli.chat.busy import READING, show_busy
from kbd.cli.chat.session import ChatSession
from kbd.cli.conversation import is_message, read_conversation, read_titles, render_conversation
from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.terminal import columns, counted, line, money, note, render_table, say, size, wrap

__all__ = ["cost", "docs", "files", "history", "search", "tools"]

MAX_COLUMNS = 100

SNIPPET_COLUMNS = 240


def files(session: ChatSession, argument: str) -> int:
    """List the workbench's files."""
    del argument
    rows = [
        (file["path"], size(file["size"]), file["file_kind"], file.get("reason", ""))
        for file in session.files()
    ]
    say(render_table(("file", "size", "kind", "note"), rows) if rows else "There are no files yet.")
    if session.folder:
        note(f"From {session.folder.path}; /reload looks there again.")
    else:
        note(f"More: kbd wb add {session.workbench_id} FILE...")
    return OK


def docs(session: ChatSession, argument: str) -> int:
    """List the documents with their ids."""
    del argument
    with show_busy(READING):
        found = session.ask("WorkspaceListDocs", slow=True)
    rows = [
        (each["doc_id"], each["title"], each["path"], "; ".join(each.get("warnings") or ()))
        for each in found["documents"]
    ]
    header = ("doc_id", "title", "file", "note")
    say(
        render_table(header, rows)
        if rows
        else "There are no documents: no file has text to search."
    )
    return OK


def tools(session: ChatSession, argument: str) -> int:
    """List the tools that a model may call: all in short, or one that is named in full.

    Raises:
        Stop: There is none of that name.
    """
    found: list[dict[str, Any]] = call(session.client, "ToolsList")["tools"]
    # In the workspace document they are called workspace.search and so on.
    name = argument.replace(".", "_")
    wanted = [each for each in found if not argument or each["name"] == name]
    if not wanted:
        raise Stop(f"There is no tool {line(argument, 60)}; /tools lists all.", USAGE)
    width = min(columns(MAX_COLUMNS), MAX_COLUMNS)
    for each in wanted:
        description = str(each["description"])
        if not argument:
            description = f"{description.partition('. ')[0].rstrip('.')}."
        say(line(each["name"]))
        for row in wrap(_indent(description), width):
            say(row)
        for name, field in each["args"].items():
            say(f"    {line(name)}: {_render_argument(field)}")
    if not argument:
        note("/tools NAME tells one in full.")
    return OK


def _indent(text: str) -> str:
    return "\n".join(f"  {row}".rstrip() for row in text.splitlines())


def _render_argument(field: dict[str, Any]) -> str:
    """Return an argument as `TOOL_REGISTRY` tells it: its type, and its default or "required"."""
    kind = str(field.get("type", ""))
    if field.get("required"):
        return f"{kind}, required"
    default = field.get("default")
    return f"{kind}, optional" if default is None else f"{kind} = {line(json.dumps(default), 60)}"


def history(session: ChatSession, argument: str) -> int:
    """Show what was said in this conversation, or its last messages.

    Raises:
        Stop: It is no number.
    """
    entries = read_conversation(session.client, session.workbench_id)
    if argument:
        if not argument.isascii() or not argument.isdigit():
            raise Stop("How many messages? /history 4", USAGE)
        messages = [at for at, entry in enumerate(entries) if is_message(entry)]
        entries = entries[messages[-int(argument) :][0] :] if messages and int(argument) else []
    if not entries:
        say("Nothing was said yet.")
    titles = read_titles(session.client, session.workbench_id, entries)
    for text in render_conversation(entries, titles, with_tools=session.is_verbose):
        say(text)
    return OK


def search(session: ChatSession, argument: str) -> int:
    """Show the pieces of the documents that are nearest to some words, without a model.

    Raises:
        Stop: Nothing was asked for.
    """
    if not argument:
        raise Stop("What for? /search WORDS", USAGE)
    session.consent_to_search()
    with show_busy(READING):
        found = session.ask("WorkspaceSearch", query=argument, slow=True)
    for number, each in enumerate(found["documents"], 1):
        where = f", {line(each['place'], 80)}" if each["place"] else ""
        say(f"{number}. {each['score']:.2f}  {line(each['filename'], 60)}{where}")
        width = min(columns(MAX_COLUMNS), MAX_COLUMNS)
        for row in wrap(f"   {line(each['snippet'], SNIPPET_COLUMNS)}", width):
            say(row)
    if not found["documents"]:
        say("Nothing was found.")
    for warning in found["warnings"]:
        note(f"  ! {line(warning)}")
    note(f"Ranked by {line(found['ranker'])}.")
    return OK


def cost(session: ChatSession, argument: str) -> int:
    """Show the tokens and the money of this conversation and of its workbench."""
    del argument
    runs = session.ask("RunList")["runs"]
    mine = [run for run in runs if run["run_id"] in session.runs]
    rows = [_render_usage("since `kbd chat`", mine), _render_usage("in this workbench", runs)]
    say(render_table(("", "runs", "tokens in", "tokens out", "cost"), rows))
    budget = next((run["budget"] for run in reversed(runs) if "budget" in run), None)
    if budget and budget["day_tokens"]:
        gone, cap = budget["day_tokens_gone"], budget["day_tokens"]
        note(f"Today, all workbenches: {gone:,} of {cap:,} tokens.")
    return OK


def _render_usage(what: str, runs: list[dict[str, Any]]) -> tuple[str, str, str, str, str]:
    asked, answered = (
        sum(int(run["usage"].get(field, 0)) for run in runs)
        for field in ("input_tokens", "output_tokens")
    )
    dollars = sum(float(run["cost"]) for run in runs)
    price = money(dollars) if dollars or not asked + answered else "no price known"
    return what, counted(len(runs), "run").split()[0], f"{asked:,}", f"{answered:,}", price
