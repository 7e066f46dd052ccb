"""Texts as operations give them, taken apart into the paragraphs that they become."""

from collections.abc import Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd_pptx.edits.formatting import SlideTextPiece

__all__ = ["Line", "halves", "lines_of"]

_MAX_LEVEL = 8
"""The deepest level that a deck has (ECMA-376, part 1, 21.1.2.2.7)."""


_MAX_LINES = 5_000
"""More paragraphs than any slide shows."""


class Line(msgspec.Struct, frozen=True):
    """A paragraph to be.

    Args:
        pieces: Its text; none for an empty one.
        level: How deep it is, from 0; None where nothing tells.
    """

    pieces: tuple[SlideTextPiece, ...]
    level: int | None = None

    @property
    def text(self) -> str:
        """The text of all pieces."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_plain(self) -> bool:
        """Whether no piece has a look of its own."""
        return all(piece == SlideTextPiece(piece.text) for piece in self.pieces)


def lines_of(pieces: Sequence[SlideTextPiece], *, levels: bool) -> tuple[Line, ...]:
    """Take a text apart at the ends of its lines.

    Args:
        pieces: The text; a plain one is one piece.
        levels: Whether tabs before a line tell its level. They do where any line has one; then a
            line without is at level 0.

    Raises:
        ValidationFailed: It has more lines than a slide can have.
    """
    found: list[list[SlideTextPiece]] = [[]]
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        found[-1].append(SlideTextPiece(first, piece.formatting))
        found.extend([SlideTextPiece(part, piece.formatting)] for part in rest)
    if len(found) > _MAX_LINES:
        raise ValidationFailed(
            f"A text of {len(found)} lines is too long for a slide; it may have {_MAX_LINES}."
        )
    kept = [[piece for piece in line if piece.text] for line in found]
    if len(kept) > 1 and not kept[-1]:
        # The end of the last line is no paragraph.
        del kept[-1]
    if not levels or not any(line and line[0].text.startswith("\t") for line in kept):
        return tuple(Line(tuple(line)) for line in kept)
    return tuple(_levelled(line) for line in kept)


def halves(lines: Sequence[Line]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Part lines at the first empty one; what is behind it is empty if there is none."""
    for place, line in enumerate(lines):
        if not line.pieces:
            rest = list(lines[place:])
            while rest and not rest[0].pieces:
                del rest[0]
            return tuple(lines[:place]), tuple(rest)
    return tuple(lines), ()


def _levelled(line: list[SlideTextPiece]) -> Line:
    if not line:
        return Line((), 0)
    text = line[0].text.lstrip("\t")
    depth = len(line[0].text) - len(text)
    pieces = [SlideTextPiece(text, line[0].formatting), *line[1:]]
    return Line(tuple(piece for piece in pieces if piece.text), min(depth, _MAX_LEVEL))
