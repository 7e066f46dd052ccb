"""Warnings of an edit, and of what it touches without being named; text that a part can hold."""

import re
from collections.abc import Sequence

from kbd.office import operations
from kbd.opc import read_transitional
from kbd.opc.package import Package, xml_root
from kbd_pptx.presentation import P

__all__ = ["DeckWarnings", "quoted_list", "shorten", "slides_text", "warn_of_protection"]

_MAX_LISTED = 20
"""Things that one notice lists; the rest is counted."""

_BRIEF_CHARACTERS = 60
# The first is the usual variant's word, the second that of the strict one.
_CUSTOM = frozenset(("custom-properties", "customProperties"))
_FINAL = "_MarkAsFinal"
"""The custom property by which office programs ask people not to edit a file."""

# XML has no vertical tab; it stays here and becomes a:br when the text is written.
_UNWRITABLE = re.compile(r"[^\t\n\v\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


class DeckWarnings(operations.EditWarnings):
    """Warnings of an edit of a deck."""

    def __init__(self) -> None:
        super().__init__(_MAX_LISTED)

    def clean_text(self, text: str) -> str:
        """Return a text as a part can hold it (XML 1.0, section 2.2), its lines ended alike.

        A vertical tab stays: it is a break within a paragraph.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        cleaned = _UNWRITABLE.sub("", text)
        if cleaned != text:
            self.warn("Control characters were left out: a deck cannot hold them.")
        return cleaned


def shorten(value: object) -> str:
    """Return a value short enough for a message."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _BRIEF_CHARACTERS else f"{text[:_BRIEF_CHARACTERS]}…"


def quoted_list(names: Sequence[str]) -> str:
    """Return names in quotes, as many as a message bears."""
    return operations.listed([f'"{shorten(name)}"' for name in names], _MAX_LISTED)


def slides_text(slides: Sequence[int]) -> str:
    """Return " on slides 0, 2", as many as a message bears; "" for none."""
    if not slides:
        return ""
    shown = operations.listed([str(index) for index in slides], _MAX_LISTED)
    return f" on slide{'' if len(slides) == 1 else 's'} {shown}"


def warn_of_protection(package: Package, main: str, found: DeckWarnings) -> None:
    """Warn of a signature, of a deck that is marked as final, and of one that asks a password.

    Args:
        package: The deck.
        main: Its main part.
        found: Where warnings go.
    """
    relations = package.relations("")
    found.warn_of_signature(relations, "deck")
    for relation in relations:
        is_inside = not relation.external and relation.target in package
        if relation.kind in _CUSTOM and is_inside and _is_final(package, relation.target):
            found.warn("The deck is marked as final; whoever marked it may not want changes.")
    root = xml_root(read_transitional(package, main), package.name)
    if root.find(f"{P}modifyVerifier") is not None:
        found.warn("The deck asks for a password before it is changed; it was changed without.")


def _is_final(package: Package, part: str) -> bool:
    root = xml_root(read_transitional(package, part), package.name)
    for entry in root.iterfind("{*}property"):
        if entry.get("name") == _FINAL:
            text = "".join(str(each) for each in entry.itertext()).strip().lower()
            return text in {"true", "1"}
    return False
