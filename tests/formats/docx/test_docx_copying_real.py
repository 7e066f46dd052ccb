"""Looks of real documents carried into others, and what others read of the results."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import AssetPick
from samples import half_or_all
from styled_documents import FORMAT, brand, copy, parts_of, plain, source

_COMPARED = (
    "font_name", "font_size", "bold", "italic", "underline", "font_color", "alignment",
    "space_before", "space_after", "line_spacing", "indent_left", "indent_right",
    "indent_first_line", "outline_level", "borders", "fill_color", "all_caps", "small_caps",
)  # fmt: skip
_UNSAID = {
    "bold": False, "italic": False, "underline": False, "space_before": 0.0, "space_after": 0.0,
    "alignment": "left", "line_spacing": 1.0, "font_name": "Times New Roman", "font_size": 10.0,
}  # fmt: skip
"""What holds where nothing is said."""


def looks(entry: dict[str, Any]) -> dict[str, Any]:
    """Return how a style looks in all that is compared."""
    return {key: entry.get(key, _UNSAID.get(key)) for key in _COMPARED}


def firsts(told: dict[str, Any]) -> Iterator[AssetPick]:
    """Yield the first asset of each kind, with a target for those that need one."""
    kinds: dict[str, str] = {}
    for asset in told["assets"]:
        kinds.setdefault(asset["kind"], asset["asset_id"])
    for kind, asset_id in kinds.items():
        yield AssetPick(asset_id, "paragraph:1-2" if kind == "list" else None)


def carried(path: Path, into: Path, target: Path) -> dict[str, int]:
    """Copy one asset of each kind into a document, each alone, and check every result."""
    found = {"copied": 0, "refused": 0}
    try:
        told = FORMAT.get_styles(source(path), None)
    except FileReadFailed:
        return found
    for pick in firsts(told):
        target.unlink(missing_ok=True)
        try:
            FORMAT.copy_assets(source(path), source(into), (pick,), target)
        except ValidationFailed:
            found["refused"] += 1
        if target.exists():
            found["copied"] += 1
            check(path, told, pick, into, target)
    return found


def check(path: Path, told: dict[str, Any], pick: AssetPick, into: Path, target: Path) -> None:
    """Check that a result opens elsewhere, keeps the rest, and shows what was copied."""
    where = (path.name, pick.asset_id)
    document = docx.Document(str(target))
    assert [each.text for each in document.paragraphs if each.text] == [
        f"Line {number}" for number in range(1, 5)
    ], where
    old, new = parts_of(into), parts_of(target)
    allowed = ("word/document.xml", "word/styles.xml", "word/numbering.xml", "word/settings.xml",
               "word/_rels/document.xml.rels", "[Content_Types].xml")  # fmt: skip
    assert {name for name in old if new.get(name) != old[name]} <= set(allowed), where
    kind = pick.asset_id.partition(":")[0]
    made = FORMAT.get_styles(source(target), None)
    if kind in ("paragraph_style", "character_style"):
        (wanted,) = [each for each in told[f"{kind}s"] if each.get("asset_id") == pick.asset_id]
        names = {"".join(each["name"].split()).casefold(): each for each in made[f"{kind}s"]}
        assert looks(names["".join(wanted["name"].split()).casefold()]) == looks(wanted), where
    if kind in ("header", "footer"):
        (wanted,) = [each for each in told[f"{kind}s"] if each["asset_id"] == pick.asset_id]
        assert wanted["text"] in [each["text"] for each in made[f"{kind}s"]], where
    if kind == "image":
        (wanted,) = [each for each in told["images"] if each.get("asset_id") == pick.asset_id]
        (shown,) = made["images"]
        assert [shown[key] for key in ("type", "width", "height", "alt_text")] == [
            wanted[key] for key in ("type", "width", "height", "alt_text")
        ], where


def carried_of(paths: list[Path], tmp_path: Path) -> dict[str, int]:
    """Do so for many documents, and count."""
    into = plain(tmp_path / "plain.docx")
    found = {"copied": 0, "refused": 0}
    for path in paths:
        for key, count in carried(path, into, tmp_path / "target.docx").items():
            found[key] += count
    return found


@pytest.mark.corpora
def test_some_real_documents(corpora: Path, tmp_path: Path) -> None:
    """One thing of each kind of real documents goes into a plain one, which stays as it was."""
    found = carried_of(sorted((corpora / "docx").iterdir())[5::21], tmp_path)

    assert found["copied"] > 60
    assert found["refused"] <= 1


@pytest.mark.corpora
@pytest.mark.full
@half_or_all
def test_all_real_documents(
    corpora: Path, tmp_path: Path, every: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same holds for all of them."""
    found = carried_of(sorted((corpora / "docx").iterdir())[::every], tmp_path)

    with capsys.disabled():
        print(f"\nassets of real documents: {found}")
    assert found["copied"] > 1500 // every
    assert found["refused"] < 20


def pdfs(paths: list[Path], folder: Path) -> dict[str, str]:
    """Have LibreOffice make PDFs; return their text by the files' stems."""
    profile = folder / "profile"
    command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to",
               "pdf", "--outdir", str(folder), *map(str, paths)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=170)
    found = {}
    for path in paths:
        made = folder / f"{path.stem}.pdf"
        told = subprocess.run(
            ["pdftotext", "-layout", str(made), "-"], check=True, capture_output=True, text=True
        )
        found[path.stem] = told.stdout
    return found


@pytest.mark.libreoffice
@pytest.mark.poppler
@pytest.mark.full
def test_libreoffice_opens_them(corpora: Path, tmp_path: Path) -> None:
    """LibreOffice shows the target's text in 15 documents that got something of real ones."""
    into = plain(tmp_path / "plain.docx")
    made: list[Path] = []
    for path in sorted((corpora / "docx").iterdir())[3::9]:
        try:
            told = FORMAT.get_styles(source(path), None)
            picks = [pick for pick in firsts(told) if not pick.asset_id.startswith("list")]
            target = tmp_path / f"made{len(made)}.docx"
            FORMAT.copy_assets(source(path), source(into), tuple(picks), target)
        except (FileReadFailed, ValidationFailed):
            continue
        made.append(target)
        if len(made) == 15:
            break
    shown = pdfs(made, tmp_path)

    assert len(shown) == 15
    for stem, text in shown.items():
        for number in range(1, 5):
            assert f"Line {number}" in text, stem


@pytest.mark.libreoffice
@pytest.mark.poppler
@pytest.mark.full
def test_libreoffice_shows_the_header(tmp_path: Path) -> None:
    """LibreOffice shows the header, the footer and the numbered heading that a document got."""
    marked, into = brand(tmp_path / "brand.docx"), plain(tmp_path / "plain.docx")
    made, _ = copy(
        marked, into, "header:section0/default", "footer:section0/default",
        ("paragraph_style:BrandHeading", "paragraph:2"), "image:Chart",
    )  # fmt: skip
    text = pdfs([made], tmp_path)[made.stem]

    assert "acme.example" in text
    assert "1. Line 2" in " ".join(text.split())
    assert "Page 1" in " ".join(text.split())
