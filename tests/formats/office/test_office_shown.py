"""What is written is shown by LibreOffice: new files of every format, and edited ones."""

import shutil
import subprocess
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from format_cases import OfficeCase, Operation, applied
from kbd.formats import Source
from linked_decks import five_slides
from office_formats import DOCX, PPTX, XLSX

pytestmark = pytest.mark.libreoffice


class Written(NamedTuple):
    """A file: its format, what is done, to which file, and the lines that are shown then.

    All of them are shown in this order, or with `is_all` false these among others.
    """

    case: OfficeCase
    operations: tuple[Operation, ...]
    lines: tuple[str, ...]
    begun: Any = None
    is_all: bool = True


FILES: Mapping[str, Written] = {
    "document": Written(
        DOCX,
        (
            {"op": "append_paragraph", "text": "Quarterly Report", "style": "Title"},
            {"op": "append_paragraph", "text": "one\ttab\nbroken", "style": "List Number"},
            {"op": "append_paragraph", "runs": [{"text": "Tea "}, {"text": "costs", "bold": True}]},
            {"op": "add_table", "rows": [["Item", "Cost"], ["{{item}}", 4.5]]},
            {"op": "insert_paragraph", "at": 2, "text": "Sümmary & <more>", "style": "Heading 1"},
            {"op": "replace_text", "search": "{{ITEM}}", "replace": "Tea"},
            {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "Price"}]},
        ),
        (
            "Quarterly Report", "Sümmary & <more>", "1. one tab", "broken", "Tea costs",
            "Item Price", "Tea 4.5",
        ),
    ),
    "deck": Written(
        PPTX,
        (
            {"op": "add_slide", "layout": "title_slide", "title": "Report", "body": "Finance"},
            {"op": "add_slide", "title": "Points", "body": "one\n\ttwo", "notes": "say it"},
            {"op": "add_slide", "layout": "two_content", "title": "Both", "body": "a\n\nb"},
            {"op": "append_bullets", "index": 1, "bullets": ["three"], "alignment": "right"},
            {"op": "set_slide_text", "index": 0, "title_runs": [{"text": "R", "bold": True}]},
            {"op": "replace_text", "search": "FINANCE", "replace": "Sales"},
        ),
        ("R", "Sales", "one", "two", "three", "a", "b"),
        is_all=False,
    ),
    "edited deck": Written(
        PPTX,
        (
            {"op": "add_slide", "title": "Points", "body": "one\n\ttwo", "notes": "say it"},
            {"op": "add_slide", "layout": "two_content", "title": "Both", "body": "a\n\nb"},
            {"op": "set_slide_text", "index": 0, "title": "Größer"},
        ),
        ("Größer", "S1", "go there", "S4", "Points", "Both"),
        five_slides,
        is_all=False,
    ),
    "workbook": Written(
        XLSX,
        (
            {
                "op": "set_range", "sheet": "Data", "start": "A1",
                "values": [["Item", "Cost"], ["Tea & <x>", 4.5], ["Größer", 3]],
            },
            {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "B4", "value": "=B2+B3"}]},
            {"op": "clear_range", "sheet": "Data", "range": "A3"},
        ),
        ("Item Cost", "Tea & <x> 4.5", "3", "7.5"),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The lines of each file, of one call of LibreOffice: it takes longer to start than to show."""
    office, reader = shutil.which("soffice"), shutil.which("pdftotext")
    if office is None or reader is None:
        pytest.skip("LibreOffice and pdftotext are not installed")
    folder = tmp_path_factory.mktemp("shown")
    for name, (case, operations, _, begun, _) in FILES.items():
        old = folder / f"old{case.suffix}"
        source = Source(begun(old), old.name) if begun else None
        applied(case, source, folder / f"{name}{case.suffix}", *operations)
    files = [folder / f"{name}{each.case.suffix}" for name, each in FILES.items()]
    subprocess.run(
        [office, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless",
         "--convert-to", "pdf", "--outdir", folder, *files],
        check=True, capture_output=True, timeout=170,
    )  # fmt: skip
    found = {}
    for name, each in FILES.items():
        path = folder / f"{name}.pdf"
        if path.exists():
            # What stands side by side is one line only where the page is kept as it looks.
            told = subprocess.run(
                [reader, *(["-layout"] if each.is_all else []), str(path), "-"],
                check=True, capture_output=True, timeout=60,
            ).stdout.decode()  # fmt: skip
            found[name] = [" ".join(line.split()).strip(" •–") for line in told.split("\n")]
    return found


@pytest.mark.full
@pytest.mark.parametrize("name", FILES)
def test_libreoffice_shows_what_was_written(shown: dict[str, list[str]], name: str) -> None:
    """Each text is on LibreOffice's pages, and nothing that nobody wrote."""
    if name not in shown:
        pytest.skip("LibreOffice was installed without the program of the format")
    lines = [line.strip("\f") for line in shown[name] if line.strip("\f")]

    assert "Click to" not in " ".join(lines)
    if FILES[name].is_all:
        assert tuple(lines) == FILES[name].lines
    else:
        assert set(FILES[name].lines) <= set(lines)
