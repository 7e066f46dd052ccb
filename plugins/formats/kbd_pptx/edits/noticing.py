"""What the reader of a result must know, and text that a part can hold."""

import re
from collections.abc import Sequence

__all__ = ["Notices", "brief", "listed", "numbered"]

_MAX_LISTED = 20
"""Things that one notice lists; the rest is counted."""

_BRIEF_CHARACTERS = 60
_UNWRITABLE = re.compile(r"[^\t\n\v\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


class Notices:
    """Collects warnings, each once, in order."""

    def __init__(self) -> None:
        self._warnings: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Add a warning."""
        self._warnings.setdefault(text)

    def writable(self, text: str) -> str:
        """Return a text as a part can hold it (XML 1.0, section 2.2), its lines ended alike.

        A vertical tab stays: it is a break within a paragraph.
        """
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        kept = _UNWRITABLE.sub("", text)
        if kept != text:
            self.warn("Control characters were left out: a deck cannot hold them.")
        return kept

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far."""
        found = tuple(self._warnings)
        more = len(found) - _MAX_LISTED
        return found if more <= 0 else (*found[:_MAX_LISTED], f"{more} more warnings like these.")


def brief(value: object) -> str:
    """Return a value short enough for a message."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _BRIEF_CHARACTERS else f"{text[:_BRIEF_CHARACTERS]}…"


def listed(names: Sequence[str]) -> str:
    """Return names in quotes, as many as a message bears."""
    more = len(names) - _MAX_LISTED
    rest = f" and {more} more" if more > 0 else ""
    return ", ".join(f'"{brief(name)}"' for name in names[:_MAX_LISTED]) + rest


def numbered(slides: Sequence[int]) -> str:
    """Return " on slides 0, 2", as many as a message bears; "" for none."""
    if not slides:
        return ""
    more = len(slides) - _MAX_LISTED
    rest = f" and {more} more" if more > 0 else ""
    shown = ", ".join(str(index) for index in slides[:_MAX_LISTED])
    return f" on slide{'' if len(slides) == 1 else 's'} {shown}{rest}"
