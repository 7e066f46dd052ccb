"""Contents of the parts of a document as a comparison needs them: text apart from formatting."""

from typing import Any

import msgspec

from kbd_docx.comparison.digests import new_hash

__all__ = [
    "InlineMark",
    "InlineObject",
    "Look",
    "ParagraphContent",
    "ParagraphRun",
    "Tracked",
    "look_of",
]

Look = tuple[tuple[str, Any], ...]
"""Formatting by name, sorted, with plain values: what an element says itself."""


class ParagraphRun(msgspec.Struct, frozen=True, array_like=True):
    """A stretch of text that looks alike, and the address that it links to."""

    text: str
    look: Look = ()
    link: str = ""


class InlineObject(msgspec.Struct, frozen=True, array_like=True):
    """Something in a paragraph that is no text: a picture, a chart, a formula, a text box.

    Args:
        kind: What it is, one noun.
        at: Behind how many characters of the text it stands.
        label: What of it can be read.
        digest: Equal for equal ones.
        facts: What people are told of it.
        link: The address that it leads to.
        look: How the run that it stands in is formatted.
    """

    kind: str
    at: int
    label: str
    digest: bytes
    facts: Look = ()
    link: str = ""
    look: Look = ()


class InlineMark(msgspec.Struct, frozen=True, array_like=True):
    """Mark in a paragraph: of a note or comment, a bookmark, a content control, a field.

    Args:
        kind: What it is, one noun.
        at: Behind how many characters of the text it stands.
        key: What it is known by.
        settings: The digest of what else is said of it.
        look: How it is formatted itself.
    """

    kind: str
    at: int
    key: str
    settings: bytes = b""
    look: Look = ()


class Tracked(msgspec.Struct, frozen=True, array_like=True):
    """A tracked change.

    Args:
        kind: "inserted", "deleted", "formatted" …
        author: By whom.
        text: The text concerned.
        date: When.
        look: The digest of what the text looked like, which rejecting it brings back.
        at: Behind how many characters of the text it begins.
    """

    kind: str
    author: str
    text: str = ""
    date: str = ""
    look: bytes = b""
    at: int = 0

    @property
    def words(self) -> str:
        """What people are told of it."""
        text = f' "{self.text}"' if self.text else ""
        return f"{self.kind}{text} by {self.author or 'an unknown author'}"


class ParagraphContent(msgspec.Struct, frozen=True, array_like=True):
    """A paragraph.

    Args:
        text: What people see, without the list's label; tracked insertions are in it, deletions
            are not.
        runs: The same text in stretches that look alike.
        look: The formatting of the paragraph.
        style: The id of its style.
        items: What is no text.
        marks: What stands at a place and takes no room.
        fields: The instructions of the fields.
        tracked: The tracked changes.
        rest: Digests of what is not known here.
        list_id: The number of its list; it is compared by itself, for programs count anew.
    """

    text: str
    runs: tuple[ParagraphRun, ...]
    look: Look
    style: str
    items: tuple[InlineObject, ...]
    marks: tuple[InlineMark, ...]
    fields: tuple[str, ...]
    tracked: tuple[Tracked, ...]
    rest: tuple[bytes, ...]
    list_id: str

    @property
    def key(self) -> bytes:
        """Equal for paragraphs between which no difference is told."""
        known = msgspec.structs.replace(self, list_id="")
        return new_hash(msgspec.msgpack.encode(known)).digest()

    @property
    def shown(self) -> str:
        """The text, with labels of what is none."""
        if not self.items:
            return self.text
        pieces: list[str] = []
        start = 0
        for item in self.items:
            pieces += (self.text[start : item.at], item.label)
            start = item.at
        return "".join((*pieces, self.text[start:]))

    @property
    def is_blank(self) -> bool:
        """Whether it shows nothing."""
        return not self.text.strip() and not self.items and not self.tracked


def look_of(values: dict[str, Any]) -> Look:
    """Return formatting in order of its names."""
    return tuple(sorted(values.items()))
