"""`/review`: what the draft would change, and of text files the lines themselves."""

import base64
import difflib
from collections.abc import Iterator
from typing import Any

from kbd.cli.changes import described
from kbd.cli.chat.session import Session
from kbd.cli.exits import OK, USAGE, Stop
from kbd.cli.terminal import counted, line, note, say

__all__ = ["review"]

COMPARED_BYTES = 256 * 1024
"""Larger files are not compared line by line."""

SHOWN_LINES = 60
"""Of one file, unless it is named."""


def review(session: Session, argument: str) -> int:
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
    say(described(changes))
    hashes = _hashes(session)
    for change in changes:
        _show(session, change, hashes, is_whole=bool(argument))
    note("/publish takes it over, /discard throws it away.")
    return OK


def _show(
    session: Session, change: dict[str, Any], hashes: dict[tuple[str, bool], str], *, is_whole: bool
) -> None:
    path = str(change["path"])
    before_path = str(change.get("previous_path", path))
    before = _text(session, hashes.get((before_path, False)))
    after = _text(session, hashes.get((path, True)))
    if before is None or after is None:
        if change.get("summary"):
            say(f"\n{line(path)}: {line(change['summary'])}")
        return
    compared = [
        row.rstrip("\n")
        for row in difflib.unified_diff(
            before.splitlines(), after.splitlines(), before_path, path, lineterm="", n=2
        )
    ]
    shown = compared if is_whole else compared[:SHOWN_LINES]
    say()
    for row in shown:
        say(row)
    if len(shown) < len(compared):
        note(f"{counted(len(compared) - len(shown), 'more line')}: /review {line(path)}")


def _hashes(session: Session) -> dict[tuple[str, bool], str]:
    """Return the content of each file by its name and whether it is the draft's; "" for none."""
    state = session.ask("StateAt", seq=session.ask("LogHead")["seq"], slow=True)
    return dict(_contents(state["files"]))


def _contents(files: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, bool], str]]:
    for file in files:
        path, in_draft = str(file["path"]), file["state"] != "published"
        yield (path, in_draft), str(file["hash"] or "")


def _text(session: Session, blob: str | None) -> str | None:
    """Return a file's text; "" for a file that is not there, None for one that is no text."""
    if not blob:
        return ""
    part = session.ask("BlobRead", hash=blob, limit=COMPARED_BYTES)
    data = base64.b64decode(part["base64"])
    if part["has_more"] or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
