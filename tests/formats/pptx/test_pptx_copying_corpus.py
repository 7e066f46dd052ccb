"""Real decks give their layouts, styles and pictures, strict ones too, and programs open these."""

import csv
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deck_judge import DeckFile, changed_parts
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import AssetPick, Source
from kbd_pptx import PptxFormat
from office_judge import faults
from styled_decks import P, copied, courier_deck, opened, plain_deck, styles_of

FORMAT = PptxFormat()
STRICT = b"http://purl.oclc.org/ooxml/"
OPENED = 15
"""Copies that LibreOffice opens."""


def real_decks(corpora: Path) -> list[Path]:
    """List the decks of the corpora."""
    with (corpora / "manifest.csv").open(encoding="utf-8") as file:
        rows = [row["path"] for row in csv.DictReader(file)]
    return sorted(corpora / path for path in rows if path.startswith("pptx/"))


def strict_decks(corpora: Path) -> list[Path]:
    """List those of the strict variant."""
    return [path for path in real_decks(corpora) if is_strict(path)]


def is_strict(path: Path) -> bool:
    """Tell whether the main part of a deck has the names of the strict variant."""
    try:
        with zipfile.ZipFile(path) as archive:
            return STRICT in archive.read("ppt/presentation.xml")
    except (zipfile.BadZipFile, KeyError):
        return False


def first_assets(path: Path) -> dict[str, str]:
    """Return the first asset of each kind, texts of shapes left out: these need a target."""
    try:
        assets = FORMAT.get_styles(Source(path, path.name), None)["assets"]
    except FileReadFailed:
        return {}
    found: dict[str, str] = {}
    for asset in assets:
        if asset["asset_id"].startswith("text_style:slide:"):
            continue
        found.setdefault(asset["kind"], asset["asset_id"])
    return found


def copies(decks: list[Path], plain: Path, folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Copy the first asset of each kind of each deck into a plain one; yield kind, name, result."""
    for path in decks:
        for count, (kind, asset_id) in enumerate(first_assets(path).items()):
            target = folder / f"{path.stem}-{count}.pptx"
            try:
                found = FORMAT.copy_assets(
                    Source(path, path.name), Source(plain, plain.name), (AssetPick(asset_id),),
                    target,
                )  # fmt: skip
            except ValidationFailed as refused:
                # An embedded object in a layout; what is refused leaves no file.
                assert "oleObject" in refused.message  # noqa: PT017 - most are not refused
                assert not target.exists()
                continue
            yield kind, found.changed[0], target


def check_copies(decks: list[Path], plain: Path, folder: Path) -> int:
    """See that each copy is sound, opens elsewhere, takes a slide and kept all of the target."""
    count = 0
    for kind, changed, target in copies(decks, plain, folder):
        count += 1
        assert faults(target) == [], target.name
        parts, _, gone = changed_parts(DeckFile(plain), DeckFile(target))
        assert all(name.startswith("ppt/theme/") for name in gone)
        assert "ppt/slides/slide1.xml" not in parts or kind == "image"
        deck = opened(target)
        if kind == "layout":
            words = changed.removeprefix("layout ").removesuffix(" is there already")
            name = words.partition(" with its master")[0]
            layouts = [each for master in deck.slide_masters for each in master.slide_layouts]
            chosen = next(each for each in layouts if " ".join(each.name.split()) == name)
            deck.slides.add_slide(chosen)
            deck.save(str(target))
        target.unlink()
    return count


@pytest.mark.corpora
def test_real_decks_give_what_they_have(corpora: Path, tmp_path: Path) -> None:
    """Of every sixtieth deck a layout, a style, the theme and a picture are copied."""
    decks = real_decks(corpora)[::60]

    assert 3 * len(decks) <= check_copies(decks, plain_deck(tmp_path / "plain.pptx"), tmp_path)


@pytest.mark.corpora
@pytest.mark.full
@pytest.mark.parametrize(
    ("every", "fewest"), [(4, 190), pytest.param(1, 820, marks=pytest.mark.soak)]
)
def test_all_real_decks_give_what_they_have(
    corpora: Path, tmp_path: Path, every: int, fewest: int
) -> None:
    """The same of all: 825 assets of 263 decks; two layouts with embedded objects are refused."""
    decks = real_decks(corpora)[::every]

    assert check_copies(decks, plain_deck(tmp_path / "plain.pptx"), tmp_path) >= fewest


@pytest.mark.corpora
def test_strict_decks_give_and_take(corpora: Path, tmp_path: Path) -> None:
    """What comes from a strict deck has the usual names elsewhere; a strict target stays strict."""
    strict = strict_decks(corpora)
    assert len(strict) > 20
    plain, made = plain_deck(tmp_path / "plain.pptx"), tmp_path / "made.pptx"
    layout = first_assets(strict[0])["layout"]
    copied(strict[0], made, (layout, None), ("text_style:body", None), into=plain)
    assert not any(STRICT in data for data in DeckFile(made).entries.values())

    back, source = tmp_path / "back.pptx", courier_deck(tmp_path / "courier.pptx")
    picks = (("layout:Two Content", None), ("text_style:slide:0/1", "master:0/body"))
    copied(source, back, *picks, into=strict[0])
    before, after = DeckFile(strict[0]), DeckFile(back)
    parts, new, gone = changed_parts(before, after)
    assert set() == gone
    for name in {*parts, *new}:
        usual = b"http://schemas.openxmlformats.org/presentationml" in after.entries[name]
        assert not usual, name
    told = styles_of(back)
    assert len(told["masters"]) == 2
    (body,) = [each for each in told["text_styles"]
               if (each["master"], each["kind"]) == (0, "body")]  # fmt: skip
    assert body["levels"][0]["font_name"] == "Courier New"


def converted(files: list[Path], folder: Path) -> set[str]:
    """Have LibreOffice make PDF files of decks; return the names of those that it made."""
    command = shutil.which("soffice")
    if command is None:
        pytest.skip("LibreOffice is not there")
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run(
        [command, profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder),
         *map(str, files)],
        check=True, capture_output=True, timeout=150,
    )  # fmt: skip
    return {path.stem for path in folder.glob("*.pdf") if path.stat().st_size > 500}


@pytest.mark.corpora
@pytest.mark.full
@pytest.mark.libreoffice
def test_copies_open_in_libreoffice(corpora: Path, tmp_path: Path) -> None:
    """Decks with slides of copied layouts become PDF files."""
    plain, files = plain_deck(tmp_path / "plain.pptx"), []
    decks = real_decks(corpora)
    for kind, _, target in copies(decks[:: len(decks) // OPENED], plain, tmp_path):
        if kind == "layout":
            deck = opened(target)
            layout = [each for master in deck.slide_masters for each in master.slide_layouts][-1]
            slide = deck.slides.add_slide(layout)
            for shape in slide.placeholders:
                if shape._element.find(f"{P}txBody") is not None:
                    shape.text_frame.text = "Text"
            deck.save(str(target))
            files.append(target)

    assert len(files) >= OPENED - 1
    assert {path.stem for path in files} == converted(files, tmp_path)
