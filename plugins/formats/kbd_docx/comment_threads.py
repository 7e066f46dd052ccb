"""Threads of comments: what newer programs say of them in a part of its own.

A comment is known there by the `paraId` of its last paragraph; it may be resolved, and be a reply
to another one (MS-DOCX, 2.5.1.1 commentEx).
"""

from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd_docx.document import OFF, W

__all__ = ["THREADS_KIND", "W14", "W15", "CommentState", "comment_states", "last_paragraph_id"]

W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"

THREADS_KIND = "commentsExtended"
"""The last word of the relation that leads to the part."""


class CommentState(msgspec.Struct, frozen=True):
    """What is said of a comment: whether it is resolved, and the id of the one it replies to."""

    is_resolved: bool = False
    reply_to: str = ""


def comment_states(
    comments: etree._Element | None, threads: etree._Element | None
) -> Mapping[str, CommentState]:
    """Return what is said of comments, by their ids; nothing is said of most.

    Args:
        comments: The root of the part with comments.
        threads: The root of the part with their threads.
    """
    if comments is None or threads is None:
        return {}
    owners = {
        key: each.get(f"{W}id", "")
        for each in comments.iterchildren(f"{W}comment")
        if (key := last_paragraph_id(each))
    }
    found: dict[str, CommentState] = {}
    for entry in threads.iterchildren(f"{W15}commentEx"):
        owner = owners.get(entry.get(f"{W15}paraId", "").upper())
        if owner is not None:
            parent = owners.get(entry.get(f"{W15}paraIdParent", "").upper(), "")
            is_resolved = entry.get(f"{W15}done", "0") not in OFF
            found[owner] = CommentState(is_resolved, "" if parent == owner else parent)
    return found


def last_paragraph_id(comment: etree._Element) -> str:
    """Return the `paraId` by which a comment is known, "" if it has none."""
    last = next(comment.iterchildren(f"{W}p", reversed=True), None)
    return "" if last is None else last.get(f"{W14}paraId", "").upper()
