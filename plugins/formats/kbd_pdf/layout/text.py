"""Text of a page as it stands there: lines from top to bottom, columns kept apart by blanks."""

from collections.abc import Sequence
from statistics import median

from kbd_pdf.layout.words import PlacedWord, lines_of

__all__ = ["text_of_lines"]

MOST_COLUMNS = 200
"""Letters of a line, at most: a page in small print has some 150."""

_FAR = 1.6
"""Lines so many heights of letters apart have a blank line between them."""

_LEAST_GAP = 0.8
"""A gap so many widths of a letter wider than a blank is kept apart by two blanks at least."""


def text_of_lines(words: Sequence[PlacedWord]) -> str:
    """Return upright words line by line, each begun as far from the left as it stands.

    Words that are written upwards or downwards come last, a line each.
    """
    upright = [word for word in words if word.is_upright]
    turned = [word.text for word in words if not word.is_upright]
    lines = lines_of(upright)
    if not lines:
        return "\n".join(turned)
    left = min(line.box.left for line in lines)
    right = max(line.box.right for line in lines)
    size = median(word.box.height for word in upright)
    wide = median((word.box.right - word.box.left) / max(len(word.text), 1) for word in upright)
    wide = max(wide, (right - left) / MOST_COLUMNS, 0.5)
    rendered: list[str] = []
    bottom: float | None = None
    for line in lines:
        if bottom is not None and line.box.top - bottom > (_FAR - 1) * size:
            rendered.append("")
        bottom = line.box.bottom
        rendered.append(_render(line.words, left, wide))
    return "\n".join([*rendered, *turned])


def _render(words: Sequence[PlacedWord], left: float, wide: float) -> str:
    text = ""
    end: float | None = None
    for word in words:
        at = round((word.box.left - left) / wide)
        gap = 0.0 if end is None else (word.box.left - end) / wide
        if end is None:
            text = " " * max(0, at)
        elif gap > 1 + _LEAST_GAP:
            text += " " * max(2, at - len(text))
        else:
            # Inside a phrase the place does not matter: letters are of many widths.
            text += " "
        text += word.text
        end = word.box.right
    return text.rstrip()
