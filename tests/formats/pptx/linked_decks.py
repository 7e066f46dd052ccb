"""Decks whose parts say of slides what edits must keep true: links, shows, sections, signatures."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pptx
from pptx.util import Inches

__all__ = [
    "five_slides",
    "listed_twice",
    "patched",
    "sections_of",
    "signed",
    "with_sections",
    "with_show",
]

_P14 = 'xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"'


def five_slides(path: Path) -> Path:
    """Write a deck of five slides, titles S0 to S4; S1 has a text and a shape that lead to S3."""
    deck: Any = pptx.Presentation()
    for number in range(5):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text_frame.text = f"S{number}"
        slide.notes_slide.notes_text_frame.text = f"notes of {number}"
    second, fourth = deck.slides[1], deck.slides[3]
    box = second.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(1))
    box.text_frame.text = "go there"
    box.click_action.target_slide = fourth
    link = box.text_frame.paragraphs[0].runs[0].font._element
    made = link.add_hlinkClick(second.part.relate_to(fourth.part, _kind("slide")))
    made.set("action", "ppaction://hlinksldjump")
    deck.save(str(path))
    return path


def patched(path: Path, changes: dict[str, Callable[[str], str]], **added: str) -> Path:
    """Change parts of a deck as text, and add some; their names end as the keys do."""
    with zipfile.ZipFile(path) as archive:
        entries = {info.filename: archive.read(info) for info in archive.infolist()}
    for name, data in entries.items():
        for ending, change in changes.items():
            if name.endswith(ending):
                entries[name] = change(data.decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**entries, **{k: v.encode() for k, v in added.items()}}.items():
            archive.writestr(name, data)
    return path


def listed_twice(path: Path, place: int) -> Path:
    """List a slide a second time, behind all others."""
    entry = pptx.Presentation(str(path)).element.findall("{*}sldIdLst/{*}sldId")[place]
    name = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
    again = f'<p:sldId id="900" r:id="{entry.get(name)}"/></p:sldIdLst>'
    return patched(
        path, {"ppt/presentation.xml": lambda text: text.replace("</p:sldIdLst>", again)}
    )


def with_sections(path: Path, *sizes: int) -> Path:
    """List the slides in sections of so many."""
    deck = pptx.Presentation(str(path))
    ids = [entry.get("id") for entry in deck.element.iterfind("{*}sldIdLst/{*}sldId")]
    parts, start = [], 0
    for number, size in enumerate(sizes):
        listed = "".join(f'<p14:sldId id="{each}"/>' for each in ids[start : start + size])
        identity = f"{{00000000-0000-0000-0000-00000000000{number}}}"
        parts.append(
            f'<p14:section name="Part {number}" id="{identity}">'
            f"<p14:sldIdLst>{listed}</p14:sldIdLst></p14:section>"
        )
        start += size
    extension = (
        '<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}">'
        f"<p14:sectionLst {_P14}>{''.join(parts)}</p14:sectionLst></p:ext></p:extLst>"
    )
    end = "</p:presentation>"
    return patched(path, {"ppt/presentation.xml": lambda text: text.replace(end, extension + end)})


def sections_of(path: Path) -> list[list[int]]:
    """Return the slides of each section, by their place in the deck."""
    deck = pptx.Presentation(str(path))
    ids = [entry.get("id") for entry in deck.element.iterfind("{*}sldIdLst/{*}sldId")]
    return [
        [ids.index(each.get("id")) for each in section.iter("{*}sldId")]
        for section in deck.element.iter("{*}section")
    ]


def with_show(path: Path, *places: int) -> Path:
    """Give a deck a custom show of some slides."""
    deck = pptx.Presentation(str(path))
    entries = list(deck.element.iterfind("{*}sldIdLst/{*}sldId"))
    name = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
    listed = "".join(f'<p:sld r:id="{entries[place].get(name)}"/>' for place in places)
    show = (
        '<p:custShowLst><p:custShow name="Short" id="0">'
        f"<p:sldLst>{listed}</p:sldLst></p:custShow></p:custShowLst>"
    )
    end = "<p:defaultTextStyle>"
    return patched(path, {"ppt/presentation.xml": lambda text: text.replace(end, show + end)})


def signed(path: Path) -> Path:
    """Relate a deck to a signature, which is none but looks like one."""
    kind = "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
    relation = f'<Relationship Id="rIdS" Type="{kind}" Target="_xmlsignatures/origin.xml"/>'
    end = "</Relationships>"
    return patched(
        path,
        {"_rels/.rels": lambda text: text.replace(end, relation + end)},
        **{"_xmlsignatures/origin.xml": "<origin/>"},
    )


def _kind(word: str) -> str:
    return f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{word}"
