"""Lines above notes: two notes of each part of notes, which the settings name.

ECMA-376, part 1, 17.11.3 (continuationSeparator) and 17.11.23 (separator).
"""

from docx.oxml.parser import parse_xml
from lxml import etree

from kbd_docx.document import W
from kbd_docx.styles.properties import insert_child

__all__ = ["note_lines", "note_settings"]

_SPACE = W.strip("{}")
_LINES = {"-1": "separator", "0": "continuationSeparator"}
_LINE = (
    '<w:p><w:pPr><w:spacing w:after="0" w:line="240" w:lineRule="auto"/></w:pPr>'
    "<w:r><w:{}/></w:r></w:p>"
)


def note_lines(word: str) -> list[etree._Element]:
    """Return the lines for a part of notes that has none; `word` is "footnote" or "endnote"."""
    return [
        parse_xml(
            f'<w:{word} xmlns:w="{_SPACE}" w:type="{line}" w:id="{key}">{_LINE.format(line)}'
            f"</w:{word}>"
        )
        for key, line in _LINES.items()
    ]


def note_settings(settings: etree._Element, word: str) -> None:
    """Name the lines of `note_lines` in a document's settings."""
    named = settings.find(f"{W}{word}Pr")
    if named is None:
        named = insert_child(settings, settings.makeelement(f"{W}{word}Pr"))
    for old in named.findall(f"{W}{word}"):
        named.remove(old)
    for key in _LINES:
        etree.SubElement(named, f"{W}{word}", {f"{W}id": key})
