"""Styles that every program knows, as Word has them, for documents that do not have them yet.

Their names are the built-in ones (ECMA-376, part 1, 17.7.4.9), by which programs take them for
their own.
"""

from collections.abc import Callable, Mapping

from docx.oxml.parser import parse_xml

from kbd_docx.document import W
from kbd_docx.edits.formatting import DocxStyles

__all__ = ["ensure_style"]

_SMALL = '<w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>'
_TEN_POINTS = '<w:rPr><w:sz w:val="20"/><w:szCs w:val="20"/></w:rPr>'
_RAISED = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
_TOC_TWIPS = 220

_STYLES: Mapping[str, tuple[str, str, str]] = {
    "Hyperlink": (
        "character", "Hyperlink", '<w:rPr><w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr>'
    ),
    "footnote reference": ("character", "FootnoteReference", _RAISED),
    "endnote reference": ("character", "EndnoteReference", _RAISED),
    "footnote text": ("paragraph", "FootnoteText", _SMALL + _TEN_POINTS),
    "endnote text": ("paragraph", "EndnoteText", _SMALL + _TEN_POINTS),
    "caption": (
        "paragraph", "Caption",
        ('<w:pPr><w:spacing w:after="200" w:line="240" w:lineRule="auto"/></w:pPr>'
        '<w:rPr><w:i/><w:iCs/><w:color w:val="44546A"/><w:sz w:val="18"/><w:szCs w:val="18"/>'
        "</w:rPr>"),
    ),
    **{
        f"toc {level}": (
            "paragraph", f"TOC{level}",
            ('<w:pPr><w:tabs><w:tab w:val="right" w:leader="dot" w:pos="9016"/></w:tabs>'
            f'<w:spacing w:after="100"/><w:ind w:left="{_TOC_TWIPS * (level - 1)}"/></w:pPr>'),
        )
        for level in range(1, 10)
    },
}  # fmt: skip
"""By name: the type, the id that Word gives it, and its formatting."""


def ensure_style(styles: DocxStyles, name: str, warn: Callable[[str], None]) -> str:
    """Return the id of a built-in style, added with a warning if the document has none."""
    type_, wanted, formatting = _STYLES[name]
    if found := styles.known(type_, name):
        return found
    id_ = styles.free_id(wanted)
    made = parse_xml(
        f'<w:style xmlns:w="{W.strip("{}")}" w:type="{type_}" w:styleId="{id_}">'
        f'<w:name w:val="{name}"/><w:uiPriority w:val="99"/><w:unhideWhenUsed/>{formatting}'
        "</w:style>"
    )
    styles.add(type_, made)
    warn(f"Style {name!r} was not in the document; it was added as Word has it.")
    return id_
