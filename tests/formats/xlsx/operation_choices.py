"""One use of each operation for any workbook, of what there is in it, and what may then differ."""

from collections.abc import Callable
from typing import Any, NamedTuple

from judging import Edit
from judging.book import Book, Sheet
from judging.places import Box, Place, box, letters, name
from judging_trials import Free

__all__ = ["ALLOWED", "CHOICES", "Allowed", "Facts", "meant", "target_of"]

Operation = dict[str, Any]


class Facts:
    """What a workbook has: its map and styles as a model sees them, its cells as the judge does.

    Args:
        book: The workbook, as the judge reads it.
        mapped: Its map.
        styles: What is told of its styles and objects.

    Attributes:
        sheet: The first worksheet in sight that has cells, else the first worksheet.
        title: Its title.
        used: The box of its values.
        table: The first range of it with names above at least two rows, None if there is none.
        headers: The names.
        has_values: Whether its cells hold anything.
    """

    def __init__(self, book: Book, mapped: dict[str, Any], styles: dict[str, Any]) -> None:
        self.book, self.styles, self.sheets = book, styles, mapped["sheets"]
        usable = [each for each in book.worksheets if each.cells and each.state == "visible"]
        self.sheet: Sheet = (usable or book.worksheets)[0]
        self.title = self.sheet.title
        self.free = Free(self.sheet)
        self.has_values = self.free.last_row > 0
        used = [each.at for each in self.sheet.cells.values() if each.kind != "blank"]
        rows, columns = {at.row for at in used} or {1}, {at.column for at in used} or {1}
        self.used = Box(min(rows), min(columns), self.free.last_row or 1, max(columns))
        entry = next(each for each in self.sheets if each["name"] == self.title)
        islands = (i for i in entry["islands"] if i["headers"] and i["row_count"] > 2)
        island = next(islands, None)
        self.table = None if island is None else box(island["range"])
        self.headers: list[str] = [] if island is None else island["headers"]

    def below(self, rows: int = 2, column: int = 1) -> str:
        """A cell below everything."""
        return name(Place(self.free.last_row + rows, column))

    def texts(self) -> list[tuple[Place, str]]:
        """The constant texts of the table's rows, else of all rows, in their order."""
        area = self.table or self.used
        return [
            (cell.at, cell.value)
            for cell in self.sheet.cells.values()
            if isinstance(cell.value, str) and cell.formula is None and self.free.is_free(cell.at)
            and cell.kind == "text" and area.holds(cell.at) and cell.at.row > area.top
        ]  # fmt: skip

    def first(self, kind: str) -> dict[str, Any] | None:
        """The first object of a kind in the list of styles."""
        found: list[dict[str, Any]] = self.styles[kind]
        return found[0] if found else None

    def drawn(self, kind: str) -> tuple[str, str] | None:
        """The sheet and name of the first chart or image."""
        for each in self.styles["assets"]:
            if each["kind"] == kind:
                return each["sheet"], each["name"].removeprefix(f"{each['sheet']}/")
        return None

    @property
    def others(self) -> list[str]:
        """The titles of the other worksheets, the last first."""
        return [each.title for each in reversed(self.book.worksheets) if each.title != self.title]


def area(found: Box) -> str:
    """A range as operations name it."""
    return f"{name(Place(found.top, found.left))}:{name(Place(found.bottom, found.right))}"


def _constant(facts: Facts) -> str | None:
    at = facts.free.constant()
    return None if at is None else name(at)


def _on_cell(**rest: Any) -> Callable[[Facts], Operation | None]:
    """Of a cell that holds a number or a text."""

    def choose(facts: Facts) -> Operation | None:
        cell = _constant(facts)
        if cell is None:
            return None
        return {"sheet": facts.title, **{k: cell if v is ... else v for k, v in rest.items()}}

    return choose


def _on_sheet(**rest: Any) -> Callable[[Facts], Operation | None]:
    return lambda facts: {"sheet": facts.title, **rest}


def _on_table(**rest: Any) -> Callable[[Facts], Operation | None]:
    """Of the rows below the names of a table."""

    def choose(facts: Facts) -> Operation | None:
        if facts.table is None:
            return None
        below = area(facts.table._replace(top=facts.table.top + 1))
        whole = area(facts.table)
        said = {k: {"below": below, "whole": whole}.get(str(v), v) for k, v in rest.items()}
        return {"sheet": facts.title, **said}

    return choose


def _set_cells(facts: Facts) -> Operation | None:
    cell = _constant(facts) or facts.below()
    return {"sheet": facts.title, "cells": [{"cell": cell, "value": "Set by kbd"}]}


def _set_range(facts: Facts) -> Operation | None:
    values = [["Kbd", 1], ["more", 2.5]]
    return {"sheet": facts.title, "start": facts.below(), "values": values}


def _unmerge(facts: Facts) -> Operation | None:
    merged = facts.sheet.merges
    return {"sheet": facts.title, "range": area(merged[0])} if merged else None


def _merge(facts: Facts) -> Operation | None:
    row = facts.free.last_row + 2
    return {"sheet": facts.title, "range": f"A{row}:B{row}"}


def _clear_range(facts: Facts) -> Operation | None:
    row = (facts.used.top + facts.used.bottom) // 2
    return {"sheet": facts.title, "range": area(facts.used._replace(top=row, bottom=row))}


def _rows(facts: Facts) -> Operation | None:
    return {"sheet": facts.title, "row": (facts.used.top + facts.used.bottom + 1) // 2}


def _columns(facts: Facts) -> Operation | None:
    column = letters((facts.used.left + facts.used.right + 1) // 2)
    return {"sheet": facts.title, "column": column}


def _delete_where(facts: Facts) -> Operation | None:
    """A row whose text in the first column with texts no other row has there."""
    texts = facts.texts()
    if facts.table is None or not texts:
        return None
    column = texts[0][0].column
    there = [text.casefold() for at, text in texts if at.column == column]
    alone = [
        text for at, text in texts
        if at.column == column and there.count(text.casefold()) == 1 and text.strip() == text
    ]  # fmt: skip
    if not alone:
        return None
    condition = {"op": "=", "value": alone[-1]}
    return {
        "sheet": facts.title, "range": area(facts.table), "column": letters(column),
        "condition": condition,
    }  # fmt: skip


def _other(**rest: Any) -> Callable[[Facts], Operation | None]:
    return lambda facts: {"sheet": facts.others[0], **rest} if facts.others else None


def _summarize(facts: Facts) -> Operation | None:
    """Of a column of texts and one of numbers."""
    if facts.table is None:
        return None
    kinds: dict[int, str] = {}
    for at, cell in facts.sheet.cells.items():
        if at.row == facts.table.top + 1 and facts.table.holds(at):
            kinds[at.column] = cell.kind
    found = {kind: column for column, kind in sorted(kinds.items(), reverse=True)}
    if not {"text", "number"} <= found.keys():
        return None
    return {
        "sheet": "Kbd sums", "source_sheets": [facts.title],
        "category_col": letters(found["text"]), "amount_col": letters(found["number"]),
    }  # fmt: skip


def _fill(facts: Facts) -> Operation | None:
    column = letters(facts.used.right + 2)
    top, bottom = facts.used.top, min(facts.used.bottom, facts.used.top + 99)
    source = letters(facts.used.left)
    return {
        "sheet": facts.title, "range": f"{column}{top}:{column}{bottom}",
        "formula": f"={source}{top}&$A$1",
    }  # fmt: skip


def _copy(facts: Facts) -> Operation | None:
    used = facts.used._replace(bottom=min(facts.used.bottom, facts.used.top + 20))
    return {"sheet": facts.title, "from": area(used), "to": facts.below(column=facts.used.left)}


def _sort(facts: Facts) -> Operation | None:
    if facts.table is None:
        return None
    keys = [{"column": letters(facts.table.left), "descending": True}]
    return {"sheet": facts.title, "range": area(facts.table), "header": True, "by": keys}


def _replace(facts: Facts) -> Operation | None:
    words = [word for _, text in facts.texts() for word in text.split() if len(word) > 3]
    if not words:
        return None
    return {"search": words[0], "replace": "Kbd", "sheet": facts.title, "match_case": True}


def _resize(facts: Facts) -> Operation | None:
    """The table that is first listed, by its last row."""
    for each in facts.styles["tables"]:
        found = box(each["range"])
        if found.bottom - found.top > 1:
            smaller = found._replace(bottom=found.bottom - 1)
            return {"table": each["name"], "range": area(smaller)}
    return None


def _define(facts: Facts) -> Operation | None:
    quoted = facts.title.replace("'", "''")
    return {"name": "KbdName", "refers_to": f"'{quoted}'!$A$1:$B$2"}


def _delete_name(facts: Facts) -> Operation | None:
    found = [each for each in facts.styles["defined_names"] if not each["name"].startswith("_")]
    if not found:
        return None
    scope = {"sheet": found[0]["sheet"]} if "sheet" in found[0] else {}
    return {"name": found[0]["name"], **scope}


def _clear_objects(facts: Facts) -> Operation | None:
    for kind, key in (("comments", "cell"), ("links", "cell"), ("validations", "range")):
        found = facts.first(kind)
        if found is not None:
            what = "hyperlinks" if kind == "links" else kind
            first = found[key].split()[0]
            return {"sheet": found["sheet"], "range": first, "what": [what]}
    return None


def _pivot(facts: Facts) -> Operation | None:
    found = facts.first("pivots")
    return None if found is None else {"pivot": found["name"]}


def _of_drawn(kind: str, **rest: Any) -> Callable[[Facts], Operation | None]:
    def choose(facts: Facts) -> Operation | None:
        found = facts.drawn(kind)
        return None if found is None else {"sheet": found[0], kind: found[1], **rest}

    return choose


CHOICES: dict[str, Callable[[Facts], Operation | None]] = {
    "insert_rows": _rows,
    "delete_rows": _rows,
    "insert_columns": _columns,
    "delete_columns": _columns,
    "delete_rows_where": _delete_where,
    "sort_range": _sort,
    "fill_formula": _fill,
    "copy_range": _copy,
    "format_range": _on_table(range="whole", style={"font_bold": True, "fill_color": "#FFC000"}),
    "rename_sheet": _on_sheet(name="Kbd's name"),
    "copy_sheet": _on_sheet(name="Kbd's copy"),
    "move_sheet": _other(to=1),
    "hide_sheet": _other(),
    "add_table": _on_table(range="whole", name="KbdTable"),
    "resize_table": _resize,
    "define_name": _define,
    "set_conditional_format": _on_table(
        range="below", rule={"type": "cell_is", "operator": "greater_than", "value": 1},
        style={"font_color": "red"},
    ),
    "set_data_validation": _on_table(range="below", type="list", choices=["a", "b"]),
    "set_hyperlink": _on_cell(cell=..., target="https://example.org/kbd"),
    "set_comment": _on_cell(cell=..., text="Kbd asks"),
    "add_chart": _on_table(type="column", table="whole", title="By kbd"),
    "set_chart": _of_drawn("chart", title="By kbd"),
    "add_image": _on_sheet(image="dot.png", place="B2"),
    "set_print": _on_sheet(area="A1:D9", orientation="landscape", title_rows="1:1"),
    "protect_sheet": _on_sheet(),
    "replace_text": _replace,
    # No real workbook is a template.
    "fill_template": lambda _: None,
    "summarize_by_category": _summarize,
    "recalculate": lambda _: {},
    "set_cells": _set_cells,
    "set_range": _set_range,
    "clear_range": _clear_range,
    "ensure_sheet": lambda _: {"sheet": "Kbd made this"},
    "delete_sheet": _other(),
    "merge_cells": _merge,
    "unmerge_cells": _unmerge,
    "auto_filter": _on_table(range="whole"),
    "freeze_panes": _on_sheet(row=1, column=1),
    "set_column_widths": _on_sheet(columns=[{"column": "B", "width": 21.5}]),
    "set_row_heights": _on_sheet(rows=[{"row": 2, "height": 33}]),
    "delete_name": _delete_name,
    "clear_objects": _clear_objects,
    "refresh_pivot": _pivot,
    "delete_chart": _of_drawn("chart"),
    "delete_image": _of_drawn("image"),
}  # fmt: skip
"""What chooses the arguments of each operation, those most used first; None if it has no object."""


class Allowed(NamedTuple):
    """What may differ after an operation.

    Args:
        named: Kinds of things, as a pattern; the review must name one of them.
        also: Further kinds that the review may name: what follows from it.
        judged: A pattern of the differences that the judge may find ("kind at place").
    """

    named: str
    also: str = "-"
    judged: str = "-"


_ANCHORED = "chart|picture|shape|drawing"
_FOLLOWING = f"{_ANCHORED}|link|page break|sort order"
_GONE = f"{_FOLLOWING}|name|validation|conditional format|filter|link|comment|merged range|table"
_CELL = "cell|row|column"
_NEW_DRAWING = "part gained at .* > drawing"

ALLOWED: dict[str, Allowed] = {
    "insert_rows": Allowed("row|cell|format", _FOLLOWING),
    "delete_rows": Allowed("row|cell|merged range|format", _GONE),
    "insert_columns": Allowed(f"{_CELL}|format", f"width|table|{_FOLLOWING}"),
    "delete_columns": Allowed(f"{_CELL}|format", f"width|{_GONE}"),
    "delete_rows_where": Allowed("row|cell|format", _GONE),
    "sort_range": Allowed(
        _CELL, "format|link|comment|height|part", "hyperlinks|comment|content at .*Comment",
    ),
    "fill_formula": Allowed(_CELL, "format"),
    "copy_range": Allowed(
        f"{_CELL}|format|link|validation",
        "merged range|conditional format|comment|height",
        "merges|conditionalFormatting|dataValidations|hyperlinks|comment|part gained|extension",
    ),
    "format_range": Allowed("format", "row|column|cell"),
    "rename_sheet": Allowed("sheet"),
    "copy_sheet": Allowed(
        "sheet", ".*", "sheets|part gained|defined name|external target",
    ),
    "move_sheet": Allowed("sheet", "-", "sheets|bookViews"),
    "hide_sheet": Allowed("sheet", "-", "sheets|bookViews"),
    "add_table": Allowed("table", "cell|filter", "table|autoFilter"),
    "resize_table": Allowed("table", "filter", "table"),
    "define_name": Allowed("name", "-", "defined name at !kbdname"),
    "set_conditional_format": Allowed("conditional format", "-", "conditionalFormatting"),
    "set_data_validation": Allowed("validation", "-", "dataValidations|extension"),
    "set_hyperlink": Allowed("link", "format", "hyperlinks|look: font"),
    "set_comment": Allowed("comment", "part", "comment|part gained at .* > vmlDrawing"),
    "add_chart": Allowed("chart", "-", _NEW_DRAWING),
    "set_chart": Allowed("chart", "-", "content at .* > chart"),
    "add_image": Allowed("picture", "-", _NEW_DRAWING),
    "set_print": Allowed(
        "page|name", "-", "defined name at .*_xlnm.print|pageSetup|pageMargins|sheetPr",
    ),
    "protect_sheet": Allowed("protection", "-", "sheetProtection"),
    "replace_text": Allowed(
        "cell", "table", "cell value|table|dataValidations|content at .* > chart",
    ),
    "summarize_by_category": Allowed("sheet", "row|cell", "sheets"),
    "recalculate": Allowed("result"),
    "set_cells": Allowed(_CELL, "table", "table"),
    "set_range": Allowed(_CELL),
    "clear_range": Allowed(_CELL),
    "ensure_sheet": Allowed("sheet"),
    "delete_sheet": Allowed(
        "sheet", ".*",
        "sheets|sheet lost|part lost|defined name|bookViews|content at extendedProperties",
    ),
    "merge_cells": Allowed("merged range", "-", "merges"),
    "unmerge_cells": Allowed("merged range", "-", "merges"),
    "auto_filter": Allowed("filter", "name", "autoFilter|defined name at .*filterdatabase"),
    "freeze_panes": Allowed("frozen panes"),
    "set_column_widths": Allowed("width"),
    "set_row_heights": Allowed("height"),
    "delete_name": Allowed("name", "-", "defined name"),
    "clear_objects": Allowed(
        "comment|link|validation", "shape|format",
        "hyperlinks|dataValidations|comment|part lost|link lost|extension",
    ),
    "refresh_pivot": Allowed("pivot.*|setting|part", "-", "content at .*pivotCache"),
    "delete_chart": Allowed("chart", "-", "(part lost|content) at .* > (chart|drawing)"),
    "delete_image": Allowed(
        "picture", "-", "(part lost|content) at .* > (image|drawing)|external target",
    ),
}  # fmt: skip
"""By operation; results of formulas may be others wherever values are."""


def target_of(operation: Operation) -> Box | None:
    """The cells that an operation writes, None if it writes none or says more."""
    match operation:
        case {"op": "copy_range", "from": source, "to": to}:
            found, first = box(source), box(to)
            rows, columns = found.bottom - found.top, found.right - found.left
            return first._replace(bottom=first.top + rows, right=first.left + columns)
        case {"op": "sort_range" | "fill_formula" | "format_range" | "add_table", "range": text}:
            return box(text)
        case {"op": "delete_rows_where", "range": text}:
            return box(text)
    return None


def meant(operation: Operation, facts: Facts) -> Edit:
    """What an operation means, for the judge: cells, sizes, panes, sheets."""
    title = facts.title
    match operation:
        case {"op": "set_cells", "cells": [{"cell": cell, "value": value}]}:
            return Edit({(title, cell): value})
        case {"op": "set_range", "start": start, "values": rows}:
            top = box(start).top
            found = {
                (title, name(Place(row, column))): value
                for row, line in enumerate(rows, top)
                for column, value in enumerate(line, 1)
            }
            return Edit(found, looks=frozenset(found))
        case {"op": "clear_range", "range": text}:
            cleared = box(text)
            columns = range(cleared.left, cleared.right + 1)
            return Edit({(title, name(Place(cleared.top, column))): None for column in columns})
        case {"op": "ensure_sheet", "sheet": added}:
            return Edit(added=(added,))
        case {"op": "freeze_panes"}:
            return Edit(frozen=frozenset({title}))
        case {"op": "set_column_widths"}:
            return Edit(widths=frozenset({(title, "B")}))
        case {"op": "set_row_heights"}:
            return Edit(heights=frozenset({(title, 2)}))
    return Edit()
