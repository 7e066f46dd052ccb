"""External references over the socket: asked about while the draft has them, and not longer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from PIL import Image
from pptx.util import Inches

from backends import mostly
from model_server import call, calls, phase_of, text, turn_of
from wired import PLAN, Wired, wired

ADDRESS = "https://example.org/far"
FETCHES = f'=WEBSERVICE("{ADDRESS}")'


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more={"KBD_LIMITS_FILE_BYTES": "1000000"}) as running:
        yield running


class _Draft:
    """A workbench, and what its draft warns of."""

    def __init__(self, wire: Wired, *files: Path) -> None:
        self._wire, self.id = wire, wire.daemon.workbench(*files)

    def ask(self, method: str, **params: Any) -> Any:
        """Ask something of the workbench."""
        return self._wire.ask(method, workbench_id=self.id, **params)

    def cell(self, cell: str, value: object, **more: Any) -> None:
        """Set a cell of a.xlsx."""
        ops = [{"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value}]}]
        self.ask("XlsxApplyOps", path="a.xlsx", ops=ops, **more)

    def warnings(self) -> list[str]:
        """Return what the review warns of."""
        rows = self.ask("ReviewGetChangeSet")["changes"]
        return [warning for row in rows for warning in row.get("warnings", ())]

    def refused(self) -> bool:
        """Tell whether a publish asks, and why."""
        error = self._wire.refused("DraftPublish", workbench_id=self.id)
        return "these files got external references" in error.message


def test_a_formula_that_was_cleared_is_published_unasked(wire: Wired) -> None:
    """An edit elsewhere changes nothing; when it is gone nobody is asked."""
    draft = _Draft(wire)
    draft.cell("B2", FETCHES, create_new=True)
    draft.cell("A1", 5)
    assert draft.refused()
    draft.cell("B2", 6)
    assert draft.warnings() == []
    assert draft.ask("DraftPublish")["published"] == ["a.xlsx"]


def test_what_was_published_is_not_the_drafts(wire: Wired) -> None:
    """Once accepted it is the file's; a draft that does not bring it is not asked about it."""
    draft = _Draft(wire)
    draft.cell("B2", FETCHES, create_new=True)
    draft.ask("DraftPublish", accept_external=True)
    draft.cell("A1", 5)
    draft.cell("C3", FETCHES)
    assert [each.partition(":")[0] for each in draft.warnings()] == ["S!C3"]
    draft.cell("C3", None)
    assert draft.ask("DraftPublish")["published"] == ["a.xlsx"]


def test_a_file_that_is_deleted_takes_it_along(wire: Wired) -> None:
    """Made again under its name it is another file; a copy has what its source has left."""
    draft = _Draft(wire)
    draft.cell("B2", FETCHES, create_new=True)
    ops = [{"op": "set_cells", "sheet": "S", "cells": [{"cell": "B2", "value": 1}]}]
    draft.ask("XlsxApplyOps", path="b.xlsx", ops=[], copy_from="a.xlsx")
    draft.ask("XlsxApplyOps", path="c.xlsx", ops=ops, copy_from="a.xlsx")
    assert len(draft.warnings()) == 2
    draft.ask("WorkbenchFilesRemove", workbench_paths=["a.xlsx", "b.xlsx"])
    draft.cell("A1", 1, create_new=True)
    assert draft.warnings() == []
    assert draft.ask("DraftPublish")["published"] == ["a.xlsx", "c.xlsx"]


def test_a_table_in_its_place_takes_it_out(wire: Wired) -> None:
    """A run that writes the workbook anew from a table leaves nothing to ask about."""
    draft = _Draft(wire, wire.file("t.csv", "id,name\n1,a\n"))
    draft.cell("B2", FETCHES, create_new=True)
    export = {
        "path": "t.csv", "target_path": "a.xlsx", "sheet": "S", "mode": "replace_sheet",
        "start_cell": "A1",
    }  # fmt: skip

    def play(body: dict[str, Any]) -> Any:
        if phase_of(body) == "plan":
            return text(PLAN)
        if phase_of(body) == "implement" and turn_of(body) == 0:
            return calls(call("table_update_from_export", export, "e1"))
        return text("Done.")

    wire.script.instead = play
    run = wire.daemon.run_prompt(draft.id, "replace it")
    wire.script.forget()
    assert run["status"] == "finished"
    assert draft.warnings() == ["1 filled cell(s) of S were emptied, 1 of them with formulas: B2."]
    assert draft.ask("DraftPublish")["published"] == ["a.xlsx"]


def test_a_link_in_a_header_that_was_replaced(wire: Wired) -> None:
    """A document is asked about while its header has the link, and not behind another one."""
    draft = _Draft(wire, _headed(wire, "far.docx", ADDRESS), _headed(wire, "near.docx", ""))
    target = {"target_path": "a.docx", "assets": ["header:section0/default"]}
    draft.ask("DocxCopyAssets", source_path="far.docx", **target)
    paragraph = {"op": "append_paragraph", "text": "more"}
    draft.ask("DocxApplyOps", path="a.docx", ops=[paragraph])
    assert draft.refused()
    draft.ask("DocxCopyAssets", source_path="near.docx", **target)
    assert draft.warnings() == []
    assert draft.ask("DraftPublish")["published"] == ["a.docx"]


def test_a_link_on_a_slide_that_was_deleted(wire: Wired) -> None:
    """A deck is asked about while a slide has the link, and not when that is gone."""
    draft = _Draft(wire, _linked_deck(wire))
    slides = [{"op": "add_slide", "layout": "blank"}] * 2
    draft.ask("PptxApplyOps", path="a.pptx", ops=slides, create_new=True)
    asset = {"asset_id": "image:slide:0/Photo", "target": "slide:0"}
    draft.ask("PptxCopyAssets", source_path="far.pptx", target_path="a.pptx", assets=[asset])
    draft.ask("PptxApplyOps", path="a.pptx", ops=slides[:1])
    assert draft.warnings() == [ADDRESS]
    assert draft.refused()
    draft.ask("PptxApplyOps", path="a.pptx", ops=[{"op": "delete_slide", "index": 0}])
    assert draft.warnings() == []
    assert draft.ask("DraftPublish")["published"] == ["a.pptx"]


def _headed(wire: Wired, name: str, address: str) -> Path:
    """Make a document with a header, which has a link if there is an address."""
    path = wire.file(name)
    made = docx.Document()
    header = made.sections[0].header
    paragraph = header.paragraphs[0]
    paragraph.add_run("header")
    if address:
        relation = header.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        link = paragraph._p.makeelement(f"{_W}hyperlink")
        link.set(f"{_R}id", relation)
        link.append(paragraph.runs[0]._r)
        paragraph._p.append(link)
    made.save(str(path))
    return path


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def _linked_deck(wire: Wired) -> Path:
    """Make a deck with a picture that leads to a page when it is clicked."""
    path = wire.file("far.pptx")
    picture = path.with_name("p.png")
    Image.new("RGB", (8, 8), "red").save(picture)
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shape = slide.shapes.add_picture(str(picture), Inches(1), Inches(1))
    shape.name = "Photo"
    shape.click_action.hyperlink.address = ADDRESS
    deck.save(str(path))
    return path
