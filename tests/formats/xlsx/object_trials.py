"""What is tried on one real workbook: objects set below all that it holds, and taken off again.

Run in a child; what else differs is the judge's word, never kbd's own.
"""

import tempfile
from pathlib import Path
from typing import Any

from fidelity_figures import Verdict
from judging import Difference, Edit, compare
from judging.places import Place, name
from judging_trials import Free, opened, operations
from kbd.errors import KbdError
from kbd.formats import Source
from kbd_xlsx import XlsxFormat

__all__ = ["objects_set"]

_NOTHING = ("", "None", "Counter()", "no cell")
"""What the judge calls a thing that was not there before: to add it loses nothing."""

_SET = ("pageSetup", "sheetPr", "sheetProtection")
"""Elements whose attributes the trial sets, whatever they were."""

Operations = list[dict[str, Any]]


def _made(title: str, row: int) -> Operations:
    """Operations of all kinds on three empty rows, the totals' row below them too."""
    head, first, last = row, row + 1, row + 2

    def at(number: int, column: int) -> str:
        return name(Place(number, column))

    cells = f"{at(first, 1)}:{at(last, 2)}"
    red = {"font_color": "red"}
    compared = {"type": "cell_is", "operator": "greater_than", "value": 1}
    found: Operations = [
        {"op": "set_range", "start": at(head, 1), "values": [["Kbd a", "Kbd b"], [1, 2], [3, 4]]},
        {"op": "add_table", "range": f"{at(head, 1)}:{at(last, 2)}", "name": "KbdTable",
         "totals": [{"column": "Kbd b"}]},
        {"op": "define_name", "name": "KbdName", "refers_to": at(first, 1)},
        {"op": "set_conditional_format", "range": cells, "rule": compared, "style": red},
        {"op": "set_conditional_format", "range": cells,
         "rule": {"type": "color_scale", "colors": ["red", "blue"]}},
        {"op": "set_data_validation", "range": cells, "type": "list", "choices": ["1", "3"]},
        {"op": "set_hyperlink", "cell": at(first, 2), "target": "https://example.org/kbd"},
        {"op": "set_hyperlink", "cell": at(last, 2), "location": "A1"},
        {"op": "set_comment", "cell": at(first, 1), "text": "Kbd asks"},
        {"op": "set_print", "orientation": "landscape", "fit_to_width": 1, "area": "A1:D9"},
        {"op": "protect_sheet"},
    ]  # fmt: skip
    return [{**each, "sheet": title} for each in found]


def _is_addition(found: Difference) -> bool:
    """Tell whether a difference is what the trial asked for: an addition, or a page setting."""
    is_look = found.kind == "look: font"
    is_name = found.kind == "defined name" and "print_area" in found.place
    # A validation that was there gives the cells of the new one away, and keeps its others.
    is_cut = found.kind == "dataValidations" and "sqref" in found.before
    return found.kind != "fault" and (
        found.before in _NOTHING or found.kind in _SET or is_look or is_name or is_cut
    )


def _applied(path: Path, folder: Path, made: Operations) -> tuple[Path, list[str]]:
    """Apply operations one by one; return the file, and what was refused."""
    source, refused = path, []
    for number, each in enumerate(made):
        target = folder / f"{number}{path.suffix}"
        try:
            XlsxFormat().apply(Source(source, source.name), operations(each), target)
        except KbdError as error:
            refused.append(f"{each['op']}: {error.message}")
            continue
        source = target
    return source, refused


def objects_set(task: tuple[Path, Path | None]) -> Verdict:
    """Set objects of all kinds in the first worksheet, all at once if that goes, else one by one.

    Args:
        task: The workbook, and where the edited one is kept; None for nowhere.
    """
    path, kept = task
    book = opened(path)
    if book is None:
        return Verdict("unparseable")
    sheet = book.worksheets[0]
    made = _made(sheet.title, Free(sheet).last_row + 2)
    book.close()
    with tempfile.TemporaryDirectory() as name_:
        folder = Path(name_)
        target, refused = folder / f"after{path.suffix}", list[str]()
        try:
            XlsxFormat().apply(Source(path, path.name), operations(*made), target)
        except KbdError:
            target, refused = _applied(path, folder, made)
        if target == path:
            return Verdict("refused", tuple(refused[:1]))
        if not refused:
            again = folder / f"again{path.suffix}"
            XlsxFormat().apply(Source(path, path.name), operations(*made), again)
            if again.read_bytes() != target.read_bytes():
                return Verdict("loss", ("a second run wrote other bytes",))
        found = [each for each in compare(path, target, Edit({})) if each.material]
        bad = [each for each in found if not _is_addition(each)]
        if kept is not None:
            kept.write_bytes(target.read_bytes())
    if bad:
        details = (f"{e.kind} at {e.place}: {e.before[:90]!r} -> {e.after[:90]!r}" for e in bad[:4])
        is_corrupt = any(each.kind == "fault" for each in bad)
        return Verdict("corrupt" if is_corrupt else "loss", tuple(details))
    return Verdict("exact", tuple(refused))
