"""Results that kbd would store in real workbooks, beside those that are stored in them.

    cd tests/formats/xlsx && KBD_CORPORA=… python -m calculated_books

prints for each function how many formulas that call it have the stored result, another one, or
none, and why.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kbd.errors import KbdError
from kbd.formats import Calculation, Source
from kbd.opc.package import Package
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.comparison.shared_texts import SharedTexts
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import Result
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells
from kbd_xlsx.results.calculate import CalculationRun, shared_texts_part
from kbd_xlsx.results.plan import Reason, calls_of
from real_workbooks import real_workbooks

NOON_US = 1_795_000_000_000_000
OF_THE_MOMENT = re.compile(r"\b(?:TODAY|NOW)\(")
CLOSE = 1e-9
TINY = 1e-6
"""Results of cancellation, as the sine of pi, are compared by their size no further than this."""


class Compared(NamedTuple):
    """A formula: where it is, its text, the stored result, that of kbd, and why there is none.

    `is_momentary` are those that depend on the day of the calculation.
    """

    place: str
    text: str
    stored: str
    found: str | None
    reason: str
    is_same: bool
    is_momentary: bool


def compared(path: Path, folder: Path) -> Iterator[Compared]:
    """Yield the formulas of a workbook that have a stored result.

    Raises:
        KbdError: It is no workbook that can be edited.
    """
    with Package(Source(path, path.name)) as package:
        book = BookEdit.opened(package)
        parts = {title: book.rewriting.read(part) for title, part in book.worksheets()}
        texts = SharedTexts(package, shared_texts_part(book))
        wanted = Calculation(NOON_US, tuple((title, "") for title in parts))
        run = CalculationRun(book, wanted, folder / "target.xlsx")
        results = run.results()
        cells = {title: StoredCells(data, title) for title, data in parts.items()}
        reasons = dict(run.plan.reasons)
        run.plan.reasons.clear()
        asking = (place for place, text in run.plan.texts.items() if OF_THE_MOMENT.search(text))
        run.plan.leave_out(dict.fromkeys(asking, Reason("it asks for the time")))
        for place in sorted(run.plan.wanted):
            sheet, row, column = place
            title = run.titles[sheet]
            stored = next(cells[title].of(Area(row, column, row, column)), None)
            if stored is None or not (stored.value or stored.kind == "text"):
                continue
            found, reason = results.get(place), reasons.get(place)
            yield Compared(
                f"{path.name} {title}!{cell_name(row, column)}",
                run.plan.texts[place],
                _text(stored, texts),
                None if found is None else found.text,
                "" if reason is None else reason.text,
                found is not None and _is_same(stored, found, texts),
                place in run.plan.reasons,
            )


def _text(cell: StoredCell, texts: SharedTexts) -> str:
    return texts.get(int(cell.value))[0] if cell.kind == "shared" else cell.value


def _is_same(stored: StoredCell, found: Result, texts: SharedTexts) -> bool:
    if stored.kind == "number" and found.kind == "number":
        one, other = float(stored.value), float(found.text)
        return abs(one - other) <= CLOSE * max(abs(one), abs(other), TINY)
    kind = "text" if stored.kind == "shared" else stored.kind
    return kind == found.kind and _text(stored, texts) == found.text


def books(corpora: Path) -> list[Path]:
    """The workbooks of the corpora that belong into no worker."""
    return [*real_workbooks(corpora), *sorted((corpora / "spreadsheetbench").rglob("*.xlsx"))]


def all_compared(corpora: Path) -> Iterator[Compared]:
    """Yield the formulas of all workbooks that can be edited."""
    with tempfile.TemporaryDirectory() as folder:
        for path in books(corpora):
            try:
                yield from compared(path, Path(folder))
            except KbdError:
                continue


def main() -> None:
    """Print the shares by function."""
    same, other, none = Counter[str](), Counter[str](), Counter[str]()
    reasons = Counter[str]()
    for each in all_compared(Path(os.environ["KBD_CORPORA"])):
        if each.is_momentary:
            continue
        counter = none if each.found is None else same if each.is_same else other
        counter.update({"(all)", *(calls_of(each.text) or {"(none)"})})
        if each.found is None:
            reasons[each.reason] += 1
        elif not each.is_same and not each.is_momentary:
            print("other", each.place, each.text[:80], each.stored[:30], each.found[:30])
    print(f"{'function':24}{'same':>8}{'other':>8}{'none':>8}")
    for name in sorted({*same, *other, *none}):
        print(f"{name:24}{same[name]:8}{other[name]:8}{none[name]:8}")
    for reason, count in reasons.most_common():
        print(f"{count:8}  {reason}")


if __name__ == "__main__":
    main()
