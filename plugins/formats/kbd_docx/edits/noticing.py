"""What the reader of a result must know."""

__all__ = ["Notices", "listed"]

_MOST_LISTED = 12
"""Things that one notice lists; the rest is counted."""


class Notices:
    """Collects notices, each once, in order."""

    def __init__(self) -> None:
        self._warnings: dict[str, None] = {}

    def warn(self, text: str) -> None:
        """Add a warning."""
        self._warnings.setdefault(text)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far."""
        return tuple(self._warnings)


def listed(names: list[str]) -> str:
    """Return names in a row, the first ones if they are many."""
    shown = ", ".join(names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
