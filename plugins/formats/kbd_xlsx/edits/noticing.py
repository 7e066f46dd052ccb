"""What the reader of a result must know: warnings, and what a file newly reaches out to."""

__all__ = ["Notices"]

MAX_LISTED = 20
"""Places that one kind of notice lists; the rest is counted."""


class Notices:
    """Collects notices, each once, in order."""

    def __init__(self) -> None:
        self._warnings: dict[str, None] = {}
        self._external: dict[str, None] = {}
        self._like_formulas: list[str] = []

    def warn(self, text: str) -> None:
        """Add a warning."""
        self._warnings.setdefault(text)

    def reaches(self, place: str, what: str) -> None:
        """Note that a cell now reaches out of the workbook."""
        self._external.setdefault(f"{place}: {what}")

    def like_formula(self, place: str) -> None:
        """Note that a text that looks like a formula was written as text."""
        self._like_formulas.append(place)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings so far."""
        if not self._like_formulas:
            return tuple(self._warnings)
        listed = ", ".join(self._like_formulas[:MAX_LISTED])
        more = len(self._like_formulas) - MAX_LISTED
        rest = f" and {more} more" if more > 0 else ""
        note = f"Text that looks like a formula was written as text: {listed}{rest}."
        return (*self._warnings, note)

    @property
    def external(self) -> tuple[str, ...]:
        """What the workbook newly reaches out to, with places."""
        found = tuple(self._external)
        if len(found) <= MAX_LISTED:
            return found
        return (*found[:MAX_LISTED], f"and {len(found) - MAX_LISTED} more")
