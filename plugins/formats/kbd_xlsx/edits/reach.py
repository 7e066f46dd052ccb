"""What a workbook reaches out to after an edit: of what came now, and of what edits brought before.

It is looked for only where there is something to look for, for it reads the formulas of whole
sheets.
"""

import re
from collections.abc import Iterable, Iterator

from kbd.formats import Source
from kbd.office.reach import external_targets, naming
from kbd.sheets.areas import cell_name
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.values import reach_of

__all__ = ["reach_after", "reach_text"]

_MAX_LISTED = 20
_COUNT = re.compile("and [0-9]+ more")


def reach_text(place: str, formula: str) -> str | None:
    """Return how a formula that reaches out of its workbook is told; None for one that does not."""
    found = reach_of(formula)
    return None if found is None else f"{place}: {found} reaches out of the workbook"


def reach_after(book: BookEdit, source: Source | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what an edit made the workbook reach out to, and what remains of earlier edits'.

    Args:
        book: The workbook, saved.
        source: What it was made from.
    """
    new, earlier = book.notices.external, source.external if source else ()
    if not new and not earlier:
        return (), ()
    texts = {*new, *earlier}
    targets = external_targets(book.rewriting)
    counts = any(_COUNT.fullmatch(text) for text in earlier)
    live = set(naming(texts, targets))
    live.update(_of_formulas(book, None if counts else texts))
    # Nobody knows which the uncounted ones were: they are gone when nothing is left.
    still = tuple(text for text in earlier if text in live or (live and _COUNT.fullmatch(text)))
    found = [text for text in new if text in live]
    more = len(found) - _MAX_LISTED
    told = (*found[:_MAX_LISTED], f"and {more} more") if more > 0 else tuple(found)
    return told, still


def _of_formulas(book: BookEdit, texts: Iterable[str] | None) -> Iterator[str]:
    """Yield the texts of formulas that reach out; of all sheets, or those that texts are of."""
    for title, part in book.worksheets():
        if texts is not None and not any(text.startswith(f"{title}!") for text in texts):
            continue
        for cell in formula_cells(book.rewriting.read(part), title):
            text = reach_text(f"{title}!{cell_name(cell.row, cell.column)}", cell.text)
            if text is not None:
                yield text
