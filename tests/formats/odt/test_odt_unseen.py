"""Text of OpenDocument texts that people do not see for its look is labeled, and no other."""

from pathlib import Path

import pytest

from kbd.formats import Region, Source
from kbd_odt import OdtFormat
from odt_texts import styles, text_file

_SPACES = (
    ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
    ' xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
)
WHITE, BLACK, DARK = 'fo:color="#FFFFFF"', 'fo:color="#000000"', 'fo:background-color="#203040"'


def style(name: str, texts: str, family: str = "text", more: str = "", parent: str = "") -> str:
    """A style of a family, with what it says of texts and beside that."""
    return (
        f'<style:style{_SPACES} style:name="{name}" style:family="{family}" '
        f'style:parent-style-name="{parent}"><style:text-properties {texts}/>{more}</style:style>'
    )


def block(kind: str, attributes: str) -> str:
    """Properties of a paragraph, a cell, a row, a table or a section."""
    return f"<style:{kind}-properties {attributes}/>"


def shown(path: Path, body: str, automatic: str, common: str = "") -> str:
    """What is read of a text."""
    text_file(path / "a.odt", body, automatic=automatic, styles=styles(common))
    return OdtFormat().read(Source(path / "a.odt", "a.odt"), Region()).text.rstrip()


SPAN = (
    '<text:p text:style-name="P">seen <text:span text:style-name="T">text</text:span> on</text:p>'
)
HIDES = {
    "white": style("T", WHITE),
    "nearly white": style("T", 'fo:color="#f8fafb"'),
    "of a parent": style("B", WHITE) + style("T", "", parent="B"),
    "tiny": style("T", 'fo:font-size="2pt"'),
    "tiny in centimeters": style("T", 'fo:font-size="0.05cm"'),
    "transparent": style("T", f'{BLACK} loext:opacity="0%"'),
    "on its own color": style("T", 'fo:color="#203040" ' + DARK),
    "on a dark paragraph": style("T", 'fo:color="#203040"')
    + style("P", WHITE, "paragraph", block("paragraph", DARK)),
}


@pytest.mark.parametrize("which", HIDES)
def test_what_is_not_seen_for_its_look_is_labeled(which: str, tmp_path: Path) -> None:
    """In the color of what is behind it, transparent, or too small; the rest is as it was."""
    assert shown(tmp_path, SPAN, HIDES[which]) == "seen [hidden: text] on"


SHOWS = {
    "black": style("T", BLACK),
    "small": style("T", 'fo:font-size="4pt"'),
    "white on its own dark": style("T", f"{WHITE} {DARK}"),
    "white in a dark paragraph": style("T", WHITE)
    + style("P", BLACK, "paragraph", block("paragraph", DARK)),
    "a color that the program chooses": style(
        "T", f'{WHITE} style:use-window-font-color="true" loext:opacity="0%"'
    ),
    "white on a picture": style("T", WHITE)
    + style(
        "P", "", "paragraph",
        '<style:paragraph-properties><style:background-image xlink:href="a.png"/>'
        "</style:paragraph-properties>",
    ),
    "white on dark pages": style("T", WHITE)
    + f'<style:page-layout{_SPACES}>{block("page-layout", DARK)}</style:page-layout>',
    "white before a drawing": style("T", WHITE)
    + '<style:style style:family="graphic">'
    + block("graphic", 'style:run-through="background"')
    + "</style:style>",
}  # fmt: skip


@pytest.mark.parametrize("which", SHOWS)
def test_what_may_be_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """White on something dark, or on what nobody knows, and what is only small."""
    assert shown(tmp_path, SPAN, SHOWS[which]) == "seen text on"


def test_a_whole_paragraph_and_the_default_count(tmp_path: Path) -> None:
    """What a span in it makes visible again stays; a default color counts for all."""
    body = (
        '<text:p text:style-name="P">gone <text:span text:style-name="B">back</text:span></text:p>'
    )
    both = style("P", WHITE, "paragraph") + style("B", BLACK)
    assert shown(tmp_path, body, both) == "[hidden: gone ]back"
    default = (
        f'<style:default-style{_SPACES} style:family="paragraph"><style:text-properties {WHITE}/>'
        "</style:default-style>"
    )
    assert shown(tmp_path, "<text:p>gone</text:p>", "", default) == "[hidden: gone]"


def test_what_is_behind_a_cell_counts(tmp_path: Path) -> None:
    """A dark cell, row, table or section shows white letters, and hides dark ones."""
    looks = style("P", WHITE, "paragraph") + style("D", 'fo:color="#203040"', "paragraph")
    looks += style("C", "", "table-cell", block("table-cell", DARK))
    looks += style("S", "", "section", block("section", DARK))
    text = '<text:p text:style-name="P">a</text:p><text:p text:style-name="D">b</text:p>'
    table = (
        f'<table:table><table:table-row><table:table-cell table:style-name="C">{text}'
        f"</table:table-cell><table:table-cell>{text}</table:table-cell></table:table-row>"
        "</table:table>"
    )
    assert "| a / [hidden: b] | [hidden: a] / b |" in shown(tmp_path, table, looks)
    section = f'<text:section text:style-name="S">{text}</text:section>'
    assert shown(tmp_path, section, looks) == "a\n[hidden: b]"


def test_what_is_behind_a_box_is_not_known(tmp_path: Path) -> None:
    """Text in boxes, comments and headers is taken for seen, and comments keep their label."""
    text = '<text:p text:style-name="P">a</text:p>'
    body = (
        f"<text:p><draw:frame><draw:text-box>{text}</draw:text-box></draw:frame>"
        f"<office:annotation>{text}</office:annotation></text:p>"
    )
    assert shown(tmp_path, body, style("P", WHITE, "paragraph")) == "[text box: a][comment: a]"


def test_hidden_text_is_counted_and_labeled_once(tmp_path: Path) -> None:
    """White text in a hidden span, and a section that a condition hides."""
    body = (
        f'{SPAN}<text:section text:display="condition" text:is-hidden="true"><text:p>b</text:p>'
        '</text:section><text:section text:display="condition"><text:p>c</text:p></text:section>'
    )
    path = text_file(tmp_path / "a.odt", body, automatic=style("T", f'{WHITE} text:display="none"'))
    reading = OdtFormat().read(Source(path, "a.odt"), Region())
    assert reading.text == "seen [hidden: text] on\n[hidden: b]\nc"
    assert reading.warnings == ("2 hidden texts are shown as [hidden: …].",)
