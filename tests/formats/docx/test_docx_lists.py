"""The labels of lists, as the program that shows a document counts them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.formats import Region, Source
from kbd_docx import DocxFormat
from kbd_docx.reader.styles import numeral
from made_documents import made

FORMAT = DocxFormat()

Lines = Callable[..., list[str]]


def level(place: int, form: str, text: str, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


OUTLINE = level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)") + level(2, "decimal", "%1.%3")
LEGAL = level(0, "upperRoman", "Article %1") + level(1, "decimal", "%1.%2", "<w:isLgl/>")
BULLETS = level(0, "bullet", "\uf0b7") + level(1, "bullet", "o")
STYLED = level(0, "decimal", "%1.", '<w:pStyle w:val="Num"/>')


def numbering(*schemes: str, lists: str = "") -> str:
    """Schemes from 0, a list of each from 1, and more lists."""
    return (
        "".join(
            f'<w:abstractNum w:abstractNumId="{n}">{inside}</w:abstractNum>'
            for n, inside in enumerate(schemes)
        )
        + "".join(
            f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>'
            for n in range(len(schemes))
        )
        + lists
    )


def item(text: str, list_id: int = 1, depth: int = 0) -> str:
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>'
        f"</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
    )


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    """Read the lines of a document with lists."""

    def work(body: str, told: str, **parts: str) -> list[str]:
        path = made(tmp_path / "a.docx", body, {"numbering": told, **parts})
        return FORMAT.read(Source(path, "a.docx"), Region()).text.split("\n")

    return work


def test_levels_count_on_and_begin_anew_below_another(lines: Lines) -> None:
    """A level begins anew below the one above it; a level that is skipped counts as used."""
    body = (
        item("a") + item("b", depth=1) + item("c", depth=1) + item("d") + item("e", depth=1)
        + item("f") + item("g", depth=2) + item("h", depth=1)
    )  # fmt: skip

    assert lines(body, numbering(OUTLINE)) == [
        "1. a", "  a) b", "  b) c", "2. d", "  a) e", "3. f", "    3.1 g", "  b) h",
    ]  # fmt: skip


def test_lists_of_one_scheme_count_on_unless_one_starts_anew(lines: Lines) -> None:
    """Two lists of a scheme are one for the reader, until one has a start of its own."""
    more = '<w:num w:numId="8"><w:abstractNumId w:val="0"/></w:num>'
    more += (
        '<w:num w:numId="9"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    )
    body = item("a") + item("b", 8) + item("c", 9) + item("d", 9) + item("e")

    assert lines(body, numbering(OUTLINE, lists=more)) == ["1. a", "2. b", "5. c", "6. d", "7. e"]


def test_bullets_legal_numbers_and_lists_by_style(lines: Lines) -> None:
    """Bullets are dashes; legal numbers are digits throughout; a style may bring its list."""
    styles = (
        '<w:style w:type="paragraph" w:styleId="Num"><w:name w:val="Num"/><w:pPr><w:numPr>'
        '<w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )
    of_style = '<w:p><w:pPr><w:pStyle w:val="{}"/>{}</w:pPr><w:r><w:t>{}</w:t></w:r></w:p>'
    none = '<w:numPr><w:numId w:val="0"/></w:numPr>'
    body = (
        item("a") + item("b", depth=1) + item("") + of_style.format("H", "", "c")
        + item("d", 2, 1) + of_style.format("Num", "", "e") + of_style.format("Num", none, "f")
        + item("", 3)
    )  # fmt: skip

    assert lines(body, numbering(BULLETS, LEGAL, STYLED), styles=styles) == [
        "- a", "  - b", "", "# Article I c", "  1.1 d", "1. e", "f", "2.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "form", "text"),
    [
        (4, "lowerRoman", "iv"), (1999, "upperRoman", "MCMXCIX"), (4000, "upperRoman", "4000"),
        (28, "lowerLetter", "bb"), (0, "upperLetter", "0"), (7, "decimalZero", "07"),
        (112, "ordinal", "112th"), (22, "ordinal", "22nd"), (3, "chicago", "3"), (3, "none", ""),
    ],
)  # fmt: skip
def test_numerals_are_those_of_the_program(count: int, form: str, text: str) -> None:
    """Letters are repeated after z, Roman numbers end where nobody reads them."""
    assert numeral(count, form) == text
