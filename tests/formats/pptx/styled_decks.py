"""Decks with looks of their own, for tests of telling and copying them."""

import functools
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pptx
from lxml import etree
from PIL import Image
from pptx.dml.color import RGBColor
from pptx.util import Inches, Pt

from deck_judge import DeckFile, changed_parts
from kbd.formats import Applied, AssetPick, Source
from kbd_pptx import PptxFormat
from office_judge import faults

__all__ = [
    "A",
    "P",
    "R",
    "brand_deck",
    "copied",
    "courier_deck",
    "differing",
    "link",
    "opened",
    "picture",
    "plain_deck",
    "rewritten",
    "styles_of",
]

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def picture(colour: str = "red", size: tuple[int, int] = (40, 30)) -> bytes:
    """Return a PNG of one colour."""
    made = io.BytesIO()
    Image.new("RGB", size, colour).save(made, "PNG")
    return made.getvalue()


def plain_deck(path: Path) -> Path:
    """Write a deck of one slide, a title and a body with a run in Arial of 14 points."""
    path.write_bytes(_plain())
    return path


@functools.cache
def _plain() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Target"
    run = slide.placeholders[1].text_frame.paragraphs[0].add_run()
    run.text = "Target text"
    run.font.name, run.font.size = "Arial", Pt(14)
    return _saved(deck)


def courier_deck(path: Path) -> Path:
    """Write a deck whose body text is in Courier New, 30 points, bold, on its only slide."""
    path.write_bytes(_courier())
    return path


@functools.cache
def _courier() -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Source"
    run = slide.placeholders[1].text_frame.paragraphs[0].add_run()
    run.text = "Styled text"
    run.font.name, run.font.size, run.font.bold = "Courier New", Pt(30), True
    run.font.color.rgb = RGBColor.from_string("112233")  # type: ignore[no-untyped-call]
    return _saved(deck)


def brand_deck(path: Path) -> Path:
    """Write a deck of a theme "Brand" (Georgia, Verdana, its own colours) and a logo.

    Its layout "Brand Opening" bears the logo and is of the kind of a title slide. Titles are in
    capitals and the second accent; the first slide has a picture of 2 by 1.5 inches at 1 by 2
    inches with an alternative text, twice.
    """
    path.write_bytes(_unthemed())
    theme = DeckFile(path).entries["ppt/theme/theme1.xml"]
    theme = theme.replace(b'name="Office Theme"', b'name="Brand"', 1)
    theme = theme.replace(b"C0504D", b"00A651").replace(b"1F497D", b"102030")
    root = etree.fromstring(theme)
    fonts = root.findall(f"{A}themeElements/{A}fontScheme/*/{A}latin")
    for latin, name in zip(fonts, ("Georgia", "Verdana"), strict=True):
        latin.set("typeface", name)
    return rewritten(path, path, {"ppt/theme/theme1.xml": etree.tostring(root)})


@functools.cache
def _unthemed() -> bytes:
    deck = pptx.Presentation()
    layout = deck.slide_layouts[0]
    layout.name = "Brand Opening"
    _, relation_id = layout.part.get_or_add_image_part(io.BytesIO(picture("green", (60, 20))))
    layout.shapes._spTree.append(_logo(relation_id))
    title = deck.slide_master.element.find(f".//{P}titleStyle/{A}lvl1pPr/{A}defRPr")
    title.set("cap", "all")
    title.find(f"{A}solidFill/{A}schemeClr").set("val", "accent2")
    slide = deck.slides.add_slide(layout)
    slide.shapes.title.text = "Brand"
    for left in (1, 4):
        shape = slide.shapes.add_picture(
            io.BytesIO(picture()), Inches(left), Inches(2), Inches(2), Inches(1.5)
        )
        shape.name = "Photo"
        shape._element.nvPicPr.cNvPr.set("descr", "A red field")
    return _saved(deck)


def _saved(deck: Any) -> bytes:
    made = io.BytesIO()
    deck.save(made)
    return made.getvalue()


def rewritten(path: Path, target: Path, parts: Mapping[str, bytes | None]) -> Path:
    """Write a deck with parts replaced, added, or with None taken away."""
    entries = {**DeckFile(path).entries, **parts}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            if data is not None:
                archive.writestr(zipfile.ZipInfo(name), data)
    return target


def opened(path: Path) -> Any:
    """Return a deck as python-pptx has it."""
    return pptx.Presentation(str(path))


def differing(before: Path, after: Path) -> tuple[set[str], set[str]]:
    """Return the names of the parts that changed, and of those that are new."""
    changed, new, _ = changed_parts(DeckFile(before), DeckFile(after))
    return changed, new


def link(kind: str, target: str, mode: str = ' TargetMode="External"') -> str:
    """Return a relation rId90."""
    return f'<Relationship Id="rId90" Type="{R[1:-1]}/{kind}" Target="{target}"{mode}/>'


def styles_of(path: Path) -> dict[str, Any]:
    """Return what is told of a deck."""
    return PptxFormat().get_styles(Source(path, path.name), None)


def copied(
    path: Path, target: Path, *picks: tuple[str, str | None], into: Path | None = None
) -> Applied:
    """Copy assets, and see that the result is sound and nothing of the target is gone."""
    found = PptxFormat().copy_assets(
        Source(path, path.name),
        Source(into, into.name) if into else None,
        tuple(AssetPick(asset_id, place) for asset_id, place in picks),
        target,
    )

    assert faults(target) == []
    assert len(picks) == found.applied == len(found.changed)
    if into is not None:
        _, _, gone = changed_parts(DeckFile(into), DeckFile(target))
        assert all(name.startswith("ppt/theme/") for name in gone)
    return found


def _logo(relation_id: str) -> etree._Element:
    return etree.fromstring(
        f'<p:pic xmlns:p="{P[1:-1]}" xmlns:a="{A[1:-1]}" xmlns:r="{R[1:-1]}"><p:nvPicPr>'
        '<p:cNvPr id="77" name="Logo"/><p:cNvPicPr/><p:nvPr userDrawn="1"/></p:nvPicPr>'
        f'<p:blipFill><a:blip r:embed="{relation_id}"/><a:stretch><a:fillRect/></a:stretch>'
        '</p:blipFill><p:spPr><a:xfrm><a:off x="7772400" y="228600"/>'
        '<a:ext cx="914400" cy="304800"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>'
        "</p:spPr></p:pic>"
    )
