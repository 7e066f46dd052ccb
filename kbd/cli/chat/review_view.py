"""`/review`: the changes of the draft, and the lines of text that they change.

The lines are those of the file where it is plain text, else those that its format reads from it.
"""

import base64
import difflib
from typing import Any

from kbd.cli.chat.session import ChatSession
from kbd.cli.exits import OK, USAGE, RequestRefused, Stop
from kbd.cli.log_reader import read_events
from kbd.cli.review import render_changes
from kbd.cli.terminal import counted, line, note, say

__all__ = ["show_review"]

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
            raise Stop(f"The draft does not change {line(argument, 80)}.", USAGE)
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
    before = "" if change["change_type"] == "added" else versions.before(before_path)
    after = "" if change["change_type"] == "deleted" else versions.now(path)
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

    def before(self, path: str) -> str | None:
        """Return what a file said; None if it has no text."""
        return self._text(path, "published", self._before.get(path))

    def now(self, path: str) -> str | None:
        """Return what a file says in the draft; None if it has no text."""
        return self._text(path, "draft", self._now.get(path))

    def _hashes(self, seq: int) -> dict[str, str]:
        files = self._session.ask("StateAt", seq=seq, slow=True)["files"]
        return {str(file["path"]): str(file["hash"]) for file in files if file["hash"]}

    def _text(self, path: str, root: str, blob: str | None) -> str | None:
        if blob:
            part = self._session.ask("BlobRead", hash=blob, limit=MAX_COMPARED_BYTES)
            data = base64.b64decode(part["base64"])
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
