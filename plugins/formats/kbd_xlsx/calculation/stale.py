"""Which stored results an edit makes old."""

from collections.abc import Mapping, Sequence

from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.references import Area

__all__ = ["stale_results"]


def stale_results(
    book: FormulaBook, changed: Mapping[str, Sequence[Area]]
) -> dict[str, list[Area]]:
    """Return the cells, by the title of their sheet, whose stored result is old after an edit."""
    raise NotImplementedError
