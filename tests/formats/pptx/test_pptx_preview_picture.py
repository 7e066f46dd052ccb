"""What was taken from a deck's first slide is still seen in its preview picture: that is told."""

import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.util import Inches

from deck_edits import edit

PICTURE = "docProps/thumbnail.jpeg"
TOLD = f"The preview picture of the file ({PICTURE}) still shows its first slide as it was."


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """A deck of two slides with a preview picture; the first one has a table."""
    made = pptx.Presentation()
    for title in ("Salaries", "Plans"):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"all about {title}"
    shapes = made.slides[0].shapes
    table = shapes.add_table(2, 1, Inches(1), Inches(4), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(1, 0).text = "name", "Ann"
    path = tmp_path / "deck.pptx"
    made.save(str(path))
    with zipfile.ZipFile(path) as package:
        assert PICTURE in package.namelist()
    return path


TAKING: dict[str, dict[str, Any]] = {
    "the slide": {"op": "delete_slide", "index": 0},
    "its title": {"op": "set_slide_text", "index": 0, "title": "Budget"},
    "a word": {"op": "replace_text", "search": "Salaries", "replace": "Costs"},
    "a row": {"op": "delete_table_rows", "index": 0, "table": "Table 3", "at": 1},
}
LEAVING: dict[str, dict[str, Any]] = {
    "another slide": {"op": "delete_slide", "index": 1},
    "another title": {"op": "set_slide_text", "index": 1, "title": "Budget"},
    "more text": {"op": "append_bullets", "index": 0, "bullets": ["more"]},
    "another place": {"op": "move_slide", "index": 0, "to": 1},
    "notes": {"op": "set_notes", "index": 0, "text": "said"},
}


@pytest.mark.parametrize("what", TAKING)
def test_what_is_gone_from_the_first_slide_is_told(what: str, deck: Path, tmp_path: Path) -> None:
    """Once, by the name of the part; the picture itself stays as it is."""
    done = edit(deck, TAKING[what], to=tmp_path / "out.pptx")

    assert done.warnings.count(TOLD) == 1
    with zipfile.ZipFile(deck) as before, zipfile.ZipFile(tmp_path / "out.pptx") as after:
        assert before.read(PICTURE) == after.read(PICTURE)


@pytest.mark.parametrize("what", LEAVING)
def test_where_nothing_is_gone_from_it_nothing_is_told(
    what: str, deck: Path, tmp_path: Path
) -> None:
    """What comes to it, moves it, or is done to other slides takes nothing from it."""
    done = edit(deck, LEAVING[what], to=tmp_path / "out.pptx")

    assert TOLD not in done.warnings


def test_a_deck_without_a_preview_tells_nothing(deck: Path, tmp_path: Path) -> None:
    """The same edit of the same deck, without the picture."""
    bare = tmp_path / "bare.pptx"
    with zipfile.ZipFile(deck) as source, zipfile.ZipFile(bare, "w") as target:
        for name in source.namelist():
            if name == PICTURE:
                continue
            data = source.read(name)
            if name == "_rels/.rels":
                made = data.split(b"<Relationship ")
                data = b"<Relationship ".join(each for each in made if b"thumbnail" not in each)
            target.writestr(name, data)

    done = edit(bare, TAKING["the slide"], to=tmp_path / "out.pptx")

    assert TOLD not in done.warnings
