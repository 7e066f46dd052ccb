"""Decks of all kinds, edited: new ones, templates, strict ones; read back by LibreOffice."""

import random
import shutil
import subprocess
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree

from deck_edits import FORMAT, edit, make, operations, slides, texts
from deck_judge import DeckFile, changed_parts
from kbd.errors import KbdError, ValidationFailed
from kbd.opc import strict
from linked_decks import five_slides, patched

EDITS: list[list[dict[str, Any]]] = [
    [
        {"op": "add_slide", "layout": "title_slide", "title": "Report", "body": "Finance"},
        {"op": "add_slide", "title": "Points", "body": "one\n\ttwo", "notes": "say it"},
        {"op": "add_slide", "layout": "two_content", "title": "Both", "body": "a\n\nb"},
        {"op": "append_bullets", "index": 1, "bullets": ["three"], "alignment": "right"},
        {"op": "set_slide_text", "index": 0, "title_runs": [{"text": "R", "bold": True}]},
        {"op": "replace_text", "search": "FINANCE", "replace": "Sales"},
        {"op": "set_notes", "index": 0, "text": "hello"},
        {"op": "move_slide", "index": 2, "to": 1},
        {"op": "delete_slide", "index": 0},
    ],
    [{"op": "add_slide", "layout": "blank"}],
]


def retyped(path: Path, ending: str) -> Path:
    """Give a deck's main part another type."""
    plain = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    return patched(path, {"[Content_Types].xml": lambda text: text.replace(plain, ending)})


POTX = "application/vnd.openxmlformats-officedocument.presentationml.template.main+xml"
PPTM = "application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"


@pytest.mark.parametrize(("suffix", "type_"), [(".potx", POTX), (".pptm", PPTM)])
def test_templates_and_macro_files_stay_what_they_are(
    suffix: str, type_: str, tmp_path: Path
) -> None:
    """They are edited as decks are, and keep their types."""
    deck = retyped(five_slides(tmp_path / f"deck{suffix}"), type_)
    out = tmp_path / f"out{suffix}"
    edit(deck, {"op": "set_slide_text", "index": 0, "title": "New"}, to=out)

    entries = DeckFile(out).entries
    assert type_.encode() in entries["[Content_Types].xml"]
    assert b"New" in entries["ppt/slides/slide1.xml"]
    assert changed_parts(DeckFile(deck), DeckFile(out))[0] == {"ppt/slides/slide1.xml"}


def test_a_template_becomes_a_deck_under_its_suffix(tmp_path: Path) -> None:
    """Copied to a deck's name a template is a deck; what has macros is not made one without."""
    template = retyped(five_slides(tmp_path / "deck.potx"), POTX)
    out = tmp_path / "out.pptx"
    edit(template, to=out)
    assert len(slides(out)) == 5

    macros = retyped(five_slides(tmp_path / "deck.pptm"), PPTM)
    with pytest.raises(ValidationFailed, match="has macros"):
        edit(macros, {"op": "delete_slide", "index": 0}, to=out)


@pytest.mark.parametrize("suffix", [".pptm", ".potx", ".potm", ".ppsm"])
def test_new_decks_promise_nothing_they_have_not(suffix: str, tmp_path: Path) -> None:
    """A new deck has no macros and is no template."""
    with pytest.raises(ValidationFailed, match=r"name it \.pptx"):
        make(tmp_path / f"new{suffix}", *EDITS[1])


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


def test_a_copy_of_nothing_changed_is_the_same(tmp_path: Path) -> None:
    """Without operations every part is as it was."""
    deck = five_slides(tmp_path / "deck.pptx")
    applied = edit(deck, to=tmp_path / "out.pptx")

    assert (applied.applied, applied.changed) == (0, ())
    assert DeckFile(deck).entries == DeckFile(tmp_path / "out.pptx").entries


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


@pytest.mark.libreoffice
def test_libreoffice_reads_what_was_written(tmp_path: Path) -> None:
    """Every text of a new deck and of an edited one is on LibreOffice's pages."""
    office, reader = shutil.which("soffice"), shutil.which("pdftotext")
    if office is None or reader is None:
        pytest.skip("LibreOffice and pdftotext are not installed")
    new, old = tmp_path / "new.pptx", five_slides(tmp_path / "old.pptx")
    make(new, *EDITS[0][:6])
    edit(old, *EDITS[0][1:3], {"op": "set_slide_text", "index": 0, "title": "Größer"},
         to=tmp_path / "edited.pptx")  # fmt: skip
    wanted = {"new": ("R", "Sales", "one", "two", "three", "a", "b"),
              "edited": ("Größer", "S1", "go there", "S4", "Points", "Both")}  # fmt: skip
    subprocess.run(
        [office, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", "pdf", "--outdir", tmp_path, *(tmp_path / f"{n}.pptx" for n in wanted)],
        check=True, capture_output=True, timeout=150,
    )  # fmt: skip
    for name, words in wanted.items():
        pdf = tmp_path / f"{name}.pdf"
        if not pdf.exists():
            pytest.skip("LibreOffice was installed without Impress")
        shown = subprocess.run(
            [reader, str(pdf), "-"], check=True, capture_output=True, timeout=60
        ).stdout.decode()
        lines = {line.strip(" •–") for line in shown.splitlines()}
        assert set(words) <= lines, lines
        assert "Click to" not in shown


def test_operations_are_taken_under_other_names(tmp_path: Path) -> None:
    """What other tools call find and slide_index is named in the format's aliases."""
    fields = {name for record in FORMAT.operations for name in record.__struct_fields__}

    assert set(FORMAT.aliases) == {"find", "slide_index"}
    assert set(FORMAT.aliases.values()) <= fields
    assert operations({"op": "delete_slide", "index": 0})


VALUES = ("", "-1", "99999999999999999999", "1" * 400, "NaN", "rId1", "rId99", "title", "²", "50%")


def damaged(entries: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    """Return the entries with a few elements of a few parts changed, dropped or doubled."""
    found = dict(entries)
    names = [name for name in found if name.startswith("ppt/") and "theme" not in name]
    for name in chance.sample(names, 3):
        root = etree.fromstring(found[name])
        for element in chance.choices(list(root.iter()), k=4):
            parent = element.getparent()
            match chance.randrange(3):
                case 0 if element.attrib:
                    key = chance.choice(list(element.attrib))
                    element.set(key, chance.choice(VALUES))
                case 1 if parent is not None:
                    parent.remove(element)
                case 2:
                    element.append(deepcopy(chance.choice(list(root.iter()))))
        found[name] = etree.tostring(root)
    return found


def test_damaged_decks_are_edited_or_refused(tmp_path: Path) -> None:
    """Whatever the parts hold: an edit goes through, or is refused with a KbdError."""
    whole, deck, out = tmp_path / "whole.pptx", tmp_path / "deck.pptx", tmp_path / "out.pptx"
    make(whole, *EDITS[0])
    entries, chance = DeckFile(whole).entries, random.Random(44)
    edited, messages = 0, []
    for _ in range(10):
        with zipfile.ZipFile(deck, "w") as archive:
            for name, data in damaged(entries, chance).items():
                archive.writestr(name, data)
        for calls in (EDITS[0][:3], EDITS[0][3:]):
            try:
                edited += edit(deck, *calls, to=out).applied
            except KbdError as error:
                messages.append(error.message)

    assert edited > 20
    assert not [message for message in messages if str(tmp_path) in message]
