"""Decks edited: strict ones keep their names, and parts that come get names of their own."""

import zipfile
from pathlib import Path

import pptx

from deck_edits import FORMAT, edit, make, operations, texts
from deck_judge import DeckFile, changed_parts
from kbd.opc import strict


def test_strict_decks_stay_strict(tmp_path: Path) -> None:
    """What is written has the strict names and percentages, in old parts and in new ones."""
    deck = tmp_path / "strict.pptx"
    make(deck, {"op": "add_slide", "title": "T", "body": "one"})
    with zipfile.ZipFile(deck) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(deck, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data if name == "[Content_Types].xml" else strict(data))
    out = tmp_path / "out.pptx"
    lines = "\n".join(["A sentence of about the length that people write on their slides"] * 20)
    edit(
        deck,
        {"op": "set_slide_text", "index": 0, "body": "one\ntwo", "line_spacing": 1.1},
        {"op": "add_slide", "title": "U", "body": lines, "notes": "n"},
        to=out,
    )

    found = DeckFile(out).entries
    touched = changed_parts(DeckFile(deck), DeckFile(out))
    for name in sorted(touched[0] | touched[1]):
        if not name.endswith(".rels") and name != "[Content_Types].xml":
            assert b"purl.oclc.org" in found[name], name
            assert b"presentationml/2006" not in found[name], name
    assert b'spcPct val="110%"' in found["ppt/slides/slide1.xml"]
    assert b'fontScale="' in found["ppt/slides/slide2.xml"]
    assert b'%" lnSpcReduction="20%"' in found["ppt/slides/slide2.xml"]
    assert b'tint val="50%"' in found["ppt/theme/theme2.xml"]


def test_many_slides_have_parts_of_their_own(tmp_path: Path) -> None:
    """Slides added in several calls, some between them deleted: no name is taken twice."""
    deck, out = tmp_path / "deck.pptx", tmp_path / "out.pptx"
    make(deck, *({"op": "add_slide", "title": f"A{number}"} for number in range(12)))
    edit(
        deck,
        *[{"op": "delete_slide", "index": 3}] * 4,
        *({"op": "add_slide", "title": f"B{number}", "index": number} for number in range(6)),
        to=out,
    )

    found = ["B0", "B1", "B2", "B3", "B4", "B5", "A0", "A1", "A2", "A7", "A8", "A9", "A10", "A11"]
    assert [each[0] for each in texts(out)] == found
    ids = [entry.get("id") for entry in pptx.Presentation(str(out)).element.iter("{*}sldId")]
    assert len(set(ids)) == len(ids) == 14


def test_operations_are_taken_under_other_names(tmp_path: Path) -> None:
    """What others call find, slide or slide_index is named in the format's aliases."""
    fields = {name for record in FORMAT.operations for name in record.__struct_fields__}

    assert set(FORMAT.aliases) == {"find", "slide", "slide_index"}
    assert set(FORMAT.aliases.values()) <= fields
    assert operations({"op": "delete_slide", "index": 0})
