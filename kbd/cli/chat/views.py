"""Slash commands that show something: files, documents, tools, search, history, cost, changes.

`/review` shows the changes of the draft, and the lines of text that they change: those of the file
where it is plain text, else those that its format reads from it.
"""

import base64
import difflib
import json
from typing import Any

from kbd.cli.chat.session import READING, ChatSession, show_busy
from kbd.cli.conversation import is_message, read_conversation, read_titles, render_conversation
from kbd.cli.exits import OK, USAGE, RequestRefused, Stop
from kbd.cli.link import call
from kbd.cli.log_reader import read_events
from kbd.cli.review import render_changes
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


MAX_COMPARED_BYTES = 256 * 1024
"""Larger files are not compared line by line."""

MAX_SHOWN_LINES = 60
"""Of one file, unless it is named."""


def show_review(session: ChatSession, argument: str) -> int:
    """Show the changes of the draft: all in short, or one file in full.

    Raises:
        Stop: The draft does not change the file that is named.
    """
    found = session.ask("ReviewGetChangeSet")
    if found["draft_id"] is None:
        say("There is no draft: nothing waits for review.")
        return OK
    changes = found["changes"]
    if argument:
        changes = [each for each in changes if each["path"] == argument]
        if not changes:
            raise Stop(f"the draft does not change {line(argument, 80)}", USAGE)
    elif found.get("draft_summary"):
        say(f"{found['draft_summary']}\n")
    say(render_changes(changes))
    versions = _Versions(session)
    for change in changes:
        _show_file(versions, change, is_whole=bool(argument))
    note("/publish takes it over, /discard throws it away.")
    return OK


def _show_file(versions: "_Versions", change: dict[str, Any], *, is_whole: bool) -> None:
    path = str(change["path"])
    before_path = str(change.get("previous_path", path))
    before = "" if change["change_type"] == "added" else versions.published_text(before_path)
    after = "" if change["change_type"] == "deleted" else versions.draft_text(path)
    if before is None or after is None:
        if change.get("summary"):
            say(f"\n{line(path)}: {line(change['summary'])}")
        return
    compared = list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), before_path, path, lineterm="", n=2
        )
    )
    shown = compared if is_whole else compared[:MAX_SHOWN_LINES]
    say()
    for row in shown:
        say(row)
    if len(shown) < len(compared):
        note(f"{counted(len(compared) - len(shown), 'more line')}: /review {line(path)}")


class _Versions:
    """Text of each file, as it was when the draft was opened and as the draft has it."""

    def __init__(self, session: ChatSession) -> None:
        self._session = session
        opened = 0
        for event in read_events(session.client, session.workbench_id, 0):
            if event["type"] == "DraftOpened":
                opened = int(event["seq"])
            elif event["type"] == "ConversationRewound":
                opened = 0  # what the draft of an earlier moment began with is not told
        self._before = self._hashes(opened - 1) if opened > 1 else {}
        self._now = self._hashes(session.ask("LogHead")["seq"])

    def published_text(self, path: str) -> str | None:
        """Return the text of the published file; None if it has none."""
        return self._text(path, "published", self._before.get(path))

    def draft_text(self, path: str) -> str | None:
        """Return the text of the draft's file; None if it has none."""
        return self._text(path, "draft", self._now.get(path))

    def _hashes(self, seq: int) -> dict[str, str]:
        files = self._session.ask("StateAt", seq=seq, slow=True)["files"]
        return {str(file["path"]): str(file["hash"]) for file in files if file["hash"]}

    def _text(self, path: str, root: str, blob: str | None) -> str | None:
        if blob:
            part = self._session.ask("BlobRead", hash=blob, limit=MAX_COMPARED_BYTES)
            data = base64.b64decode(part["base64"])
            # A NUL is sound UTF-8, and still in no text.
            if not part["has_more"] and b"\0" not in data:
                try:
                    return data.decode()
                except UnicodeDecodeError:
                    pass
        return self._extracted(path, root)

    def _extracted(self, path: str, root: str) -> str | None:
        """Return what a file's format reads as its text; its methods bear the format's name."""
        method = f"{path.rpartition('.')[2].capitalize()}ExtractText"
        limit = MAX_COMPARED_BYTES
        try:
            found = self._session.ask(method, path=path, root=root, limit=limit, slow=True)
        except RequestRefused:
            return None  # no format of that name, or nothing that it can read
        return None if found["has_more"] else str(found["text"])
