"""What the judge answers."""

from typing import NamedTuple

__all__ = ["Difference"]


class Difference(NamedTuple):
    """One thing that is not as before, or not as it was meant.

    Args:
        kind: What sort of thing ("part lost", "element lost", "not as meant" …).
        place: The part, and in it the way to the element.
        before: What was there (or was meant).
        after: What is there.
        material: Whether it says something else now; if not, only the bytes or the name of a part
            changed, or a part went that nothing led to.
    """

    kind: str
    place: str
    before: str = ""
    after: str = ""
    material: bool = True

    @property
    def told(self) -> str:
        """The difference in one line."""
        change = f": {self.before[:120]!r} -> {self.after[:120]!r}"
        return f"{self.kind} at {self.place}{change if self.before or self.after else ''}"
