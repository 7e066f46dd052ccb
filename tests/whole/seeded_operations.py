"""Operations on a workbook, a document or a deck, made up from a seed."""

from random import Random
from typing import Any

__all__ = ["operations"]

_WORDS = ("alpha", "Ünïcode", "=SUM(A1:A3)", "two\nlines", "the", "12.50", "", "x" * 40)
_COLOURS = ("#FF0000", "#00b050", "red", 7)


def operations(kind: str, chance: Random, told: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return at least so many operations of a format.

    Args:
        kind: Its name.
        chance: Decides.
        told: The map of the file that they are for, empty for a new one.
        count: How many.
    """
    made: list[dict[str, Any]] = []
    for _ in range(count):
        one = {"xlsx": _sheet, "docx": _document, "pptx": _deck}[kind](chance, told)
        if one["op"] == "unmerge_cells":
            made.append({"op": "merge_cells", "sheet": one["sheet"], "range": "Y150:Z151"})
        made.append(one)
    return made


def _cell(chance: Random) -> str:
    return f"{chance.choice('ABCDGH')}{chance.randrange(1, 30)}"


def _range(chance: Random) -> str:
    left, top = chance.randrange(6), chance.randrange(1, 25)
    right, bottom = left + chance.randrange(3), top + chance.randrange(4)
    return f"{'ABCDEFGHI'[left]}{top}:{'ABCDEFGHI'[right]}{bottom}"


def _value(chance: Random) -> Any:
    return chance.choice((1, -2.5, True, None, "text", "=1+1", "=A1*2", 1e20, "línea"))


def _look(chance: Random) -> dict[str, Any]:
    looks = {
        "font_bold": True, "font_name": "Arial", "font_size": 12, "font_color": "#3366CC",
        "fill_color": chance.choice(_COLOURS), "number_format": "#,##0.00", "h_align": "center",
        "wrap_text": True, "border_top": {"style": "thin", "color": "#000000"}, "no_such": 1,
    }  # fmt: skip
    return {name: looks[name] for name in chance.sample(sorted(looks), 3)}


def _sheet(chance: Random, told: dict[str, Any]) -> dict[str, Any]:
    names = [each["name"] for each in told.get("sheets", ())]
    sheet = {"sheet": chance.choice([*names, "Sheet1"] if names else ["Sheet1"])}
    headers = [
        header for each in told.get("sheets", ())
        for island in each.get("islands") or () for header in island["headers"] or ()
    ] or ["A", "B"]  # fmt: skip
    rows = [[_value(chance) for _ in range(3)] for _ in range(chance.randrange(1, 4))]
    start = {"start": _cell(chance), "style": _look(chance)}
    day = {"value": "2024-02-29", "type": "date", "style": _look(chance)}
    cells = [{"cell": _cell(chance), "value": _value(chance)}, {"cell": _cell(chance), **day}]
    made: tuple[dict[str, Any], ...] = (
        {"op": "ensure_sheet", "sheet": f"New {chance.randrange(3)}"},
        {"op": "set_cells", **sheet, "cells": cells},
        {"op": "set_range", **sheet, **start, "values": rows},
        {"op": "set_column_widths", **sheet, "columns": [{"column": "B", "width": 22.5}]},
        {"op": "set_row_heights", **sheet, "rows": [{"row": 2, "height": 30}]},
        {"op": "freeze_panes", **sheet, "row": 1, "column": chance.randrange(2)},
        {"op": "merge_cells", **sheet, "range": f"K{chance.randrange(1, 50)}:L60"},
        {"op": "unmerge_cells", **sheet, "range": "A1:Z200"},
        {"op": "clear_range", **sheet, "range": _range(chance)},
        {"op": "auto_filter", **sheet, "range": "A1:C10"},
        {"op": "delete_sheet", "sheet": chance.choice((sheet["sheet"], "New 0", "Out"))},
        {
            "op": "summarize_by_category", "sheet": f"Sums {chance.randrange(50)}",
            "source_sheets": [sheet["sheet"]], "category_col": chance.choice(headers),
            "amount_col": chance.choice(headers),
        },
    )  # fmt: skip
    return chance.choice(made)


def _runs(chance: Random) -> list[dict[str, Any]]:
    look = {"bold": True, "font_size": 14, "font_color": chance.choice(_COLOURS)}
    return [{"text": chance.choice(_WORDS) or "w", **look}, {"text": " and more", "italic": "no"}]


def _paragraph(chance: Random) -> dict[str, Any]:
    styles = ("Normal", "Heading 1", "List Bullet", "List Number", "No Such Style", None)
    said: dict[str, Any] = {"style": chance.choice(styles)}
    said |= {"runs": _runs(chance)} if chance.randrange(2) else {"text": chance.choice(_WORDS)}
    if chance.randrange(2):
        said |= {"alignment": chance.choice(("center", "left", "up")), "space_after": 6}
    return said


def _document(chance: Random, told: dict[str, Any]) -> dict[str, Any]:
    last = max(1, told.get("paragraph_count", 1))
    table = max(1, len(told.get("tables", ())))
    place = chance.randrange(1, last + 1)
    made: tuple[dict[str, Any], ...] = (
        {"op": "set_paragraphs", "paragraphs": [_paragraph(chance) for _ in range(3)]},
        {"op": "append_paragraph", **_paragraph(chance)},
        {"op": "append_paragraph", **_paragraph(chance)},
        {"op": "insert_paragraph", "at": place, **_paragraph(chance)},
        {"op": "delete_paragraphs", "from": place, "count": chance.randrange(1, 3)},
        {"op": "replace_text", "search": chance.choice("aeiou"), "replace": chance.choice(_WORDS)},
        {"op": "add_table", "rows": [["a", 1, None], [True, 2.5, "é"]], "style": "Table Grid"},
        {"op": "add_table", "rows": [["only"]], "after": place},
        {
            "op": "set_table_cells", "table": chance.randrange(table),
            "cells": [{"row": 0, "col": 0, "text": chance.choice(_WORDS)}],
        },
        {"op": "format_paragraphs", "from": place, "bold": True, "alignment": "right"},
        {"op": "append_paragraph", "text": "like another", "like": place},
        *_table_operations(chance, chance.randrange(table)),
    )  # fmt: skip
    return chance.choice(made)


def _table_operations(chance: Random, table: int) -> tuple[dict[str, Any], ...]:
    line = chance.randrange(3)
    return (
        {"op": "insert_table_rows", "table": table, "at": line, "rows": [[chance.choice(_WORDS)]]},
        {"op": "delete_table_rows", "table": table, "from": line},
        {"op": "insert_table_columns", "table": table, "at": line, "columns": [["new"]]},
        {"op": "delete_table_columns", "table": table, "from": line},
        {"op": "merge_table_cells", "table": table, "row": 0, "col": 0, "to_row": 0, "to_col": 1},
        {"op": "split_table_cell", "table": table, "row": 0, "col": 0},
        {"op": "format_table_cells", "table": table, "col": line, "alignment": "right"},
        {"op": "set_table", "table": table, "width": 4, "header_rows": 1},
    )


def _deck(chance: Random, told: dict[str, Any]) -> dict[str, Any]:
    slide = {"index": chance.randrange(max(1, told.get("slide_count", 1)))}
    usual = ["title_slide", "title_and_content", "blank", "two_content"]
    layout = chance.choice([*told.get("layouts", ()), *usual])
    body = {"body": "one\n\ttwo\nthree"} if chance.randrange(2) else {"body_runs": _runs(chance)}
    made: tuple[dict[str, Any], ...] = (
        {"op": "add_slide", "layout": layout, "title": "Made", **body},
        {"op": "add_slide", "layout": layout, "title_runs": _runs(chance), "notes": "said"},
        {"op": "set_slide_text", **slide, "title": chance.choice(_WORDS), **body},
        {"op": "append_bullets", **slide, "bullets": ["x", "y"], "level": chance.randrange(3)},
        {"op": "replace_text", "search": chance.choice("aeiou"), "replace": chance.choice(_WORDS)},
        {"op": "set_notes", **slide, "text": chance.choice(_WORDS)},
        {"op": "delete_slide", **slide},
        {"op": "move_slide", **slide, "to": 0},
    )
    return chance.choice(made)
