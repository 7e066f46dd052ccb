"""Slash commands that show something: files, documents, tools, search, history, cost, changes."""

import json
from typing import Any

from kbd.cli.chat.session import READING, ChatSession, show_busy
from kbd.cli.conversation import is_message, read_conversation, read_titles, render_conversation
from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.pager import has_color, show_lines
from kbd.cli.review import read_diff, render_file, review_lines
from kbd.cli.terminal import columns, counted, line, money, note, render_table, say, size, wrap

__all__ = [
    "show_cost",
    "show_documents",
    "show_files",
    "show_history",
    "show_review",
    "show_search",
    "show_tools",
]


MAX_COLUMNS = 100

SNIPPET_COLUMNS = 240


def show_files(session: ChatSession, argument: str) -> int:
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


def show_documents(session: ChatSession, argument: str) -> int:
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


def show_tools(session: ChatSession, argument: str) -> int:
    """List the tools that a model may call: all in short, or one that is named in full.

    Raises:
        Stop: There is none of that name.
    """
    found: list[dict[str, Any]] = call(session.client, "ToolsList")["tools"]
    # In the workspace document they are called workspace.search and so on.
    name = argument.replace(".", "_")
    wanted = [each for each in found if not argument or each["name"] == name]
    if not wanted:
        raise Stop(f"there is no tool {line(argument, 60)}; /tools lists all", USAGE)
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


def show_history(session: ChatSession, argument: str) -> int:
    """Show the conversation, or its last messages.

    Raises:
        Stop: It is no number.
    """
    entries = read_conversation(session.client, session.workbench_id)
    if argument:
        if not argument.isascii() or not argument.isdigit():
            raise Stop("how many messages? /history 4", USAGE)
        messages = [at for at, entry in enumerate(entries) if is_message(entry)]
        # By a slice, for there may be fewer messages than were asked for.
        entries = entries[messages[-int(argument) :][0] :] if messages and int(argument) else []
    if not entries:
        say("Nothing was said yet.")
    titles = read_titles(session.client, session.workbench_id, entries)
    for text in render_conversation(entries, titles, with_tools=session.is_verbose):
        say(text)
    return OK


def show_search(session: ChatSession, argument: str) -> int:
    """Show the pieces of the documents that are nearest to some words, without a model.

    Raises:
        Stop: Nothing was asked for.
    """
    if not argument:
        raise Stop("what for? /search WORDS", USAGE)
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


def show_cost(session: ChatSession, argument: str) -> int:
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


def show_review(session: ChatSession, argument: str) -> int:
    """Show the changes of the draft: of all files the first, or all of one file.

    Raises:
        Stop: The draft does not change the file that is named.
    """
    found = session.ask("ReviewGetChangeSet")
    if found["draft_id"] is None:
        say("There is no draft: nothing waits for review.")
        return OK
    client, workbench_id, width = session.client, session.workbench_id, columns(otherwise=100)
    if argument:
        changes = [each for each in found["changes"] if each["path"] == argument]
        if not changes:
            raise Stop(f"the draft does not change {line(argument, 80)}", USAGE)
        diff = read_diff(client, workbench_id, argument, {})
        lines = render_file(changes[0], diff, width, is_excerpt=False)
    else:
        lines = review_lines(client, workbench_id, found, width)
    show_lines(lines, color=has_color("auto"), paged=True)
    note("/publish takes it over, /discard throws it away.")
    return OK
