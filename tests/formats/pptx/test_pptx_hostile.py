"""Decks that are made to do harm: each is read as far as it can be, cheaply, or refused."""

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from confined import MODEST_BYTES, Answer, Confined, confined, opened, refused
from kbd.formats import Source
from kbd_pptx import PptxFormat
from read_decks import (
    PACKAGE,
    box,
    deck,
    frame,
    group,
    paragraph,
    placeholder,
    relations,
    shape,
    slide_xml,
)

ACTIONS = ("map", "read", "objects", "passages", "info")
MAX_BYTES = 700 << 20
MAX_CPU_S = 12.0
"""A worker has 1.5 GiB and 30 s; what is measured beside other work must leave room."""

Build = Callable[[Path], Source]


@pytest.fixture(scope="module")
def cell() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(PptxFormat, ACTIONS) as found:
        yield found


def told(cell: Confined, folder: Path, build: Build) -> dict[str, Answer]:
    """Do everything to a deck, and see that it stayed within bounds."""
    source = build(folder)
    found = opened(cell, folder / "blob", source.path.read_bytes(), source.name)
    for action, answer in found.items():
        assert answer.peak_bytes <= MAX_BYTES, (action, answer.peak_bytes >> 20)
        assert answer.cpu_s <= MAX_CPU_S, (action, answer.cpu_s)
    return found


def nested(count: int) -> str:
    inner = box(0, 0, 1, 1).replace(
        "</a:xfrm>", '<a:chOff x="0" y="0"/><a:chExt cx="9" cy="0"/></a:xfrm>'
    )
    opening, closing = group("|", inner).split("|")
    return slide_xml(opening * count + shape("deep", at=(0, 0, 1, 1)) + closing * count)


def loops(folder: Path) -> Source:
    """A layout whose master is the layout, a master whose layouts are the master and a slide."""
    names = f'xmlns="{PACKAGE}/relationships"'
    themselves = (
        f"<Relationships {names}>"
        + relations(("l", "slideLayout", "../masters/m.xml"), ("m", "slideMaster", "l.xml"))
        + "</Relationships>"
    )
    parts = {"ppt/_rels/l.xml.rels": themselves, "ppt/masters/_rels/m.xml.rels": themselves}
    return deck(folder, [slide_xml(shape("round"))], parts=parts)


def named_often(count: int) -> Build:
    """One slide that the deck lists many times."""

    def build(folder: Path) -> Source:
        source = deck(folder, [slide_xml(shape("again"))])
        with zipfile.ZipFile(source.path) as archive:
            main = archive.read("ppt/presentation.xml").decode()
        listed = '<p:sldId id="256" r:id="s0"/>'
        again = main.replace(listed, listed * count)
        return deck(folder, [slide_xml(shape("again"))], parts={"ppt/presentation.xml": again})

    return build


def charted(inner: str) -> Build:
    names = slide_xml().split("<p:sld ")[1].split(" show=")[0]
    points = f"<c:chartSpace {names}><c:chart><c:plotArea><c:pieChart>{inner}"
    part = f"{points}</c:pieChart></c:plotArea></c:chart></c:chartSpace>"
    slide = slide_xml(frame("drawingml/2006/chart", '<c:chart r:id="c"/>'))
    named = relations(("c", "chart", "../c.xml"))
    return lambda folder: deck(
        folder, [slide], named={0: named}, parts={"ppt/c.xml": part}, is_packed=False
    )


def drawn(points: str, connections: str) -> Build:
    names = slide_xml().split("<p:sld ")[1].split(" show=")[0]
    part = (
        f"<dgm:dataModel {names}><dgm:ptLst>{points}</dgm:ptLst>"
        f"<dgm:cxnLst>{connections}</dgm:cxnLst></dgm:dataModel>"
    )
    slide = slide_xml(frame("drawingml/2006/diagram", '<dgm:relIds r:dm="d"/>'))
    named = relations(("d", "diagramData", "../d.xml"))
    return lambda folder: deck(
        folder, [slide], named={0: named}, parts={"ppt/d.xml": part}, is_packed=False
    )


def one(slide: str) -> Build:
    return lambda folder: deck(folder, [slide], is_packed=False)


def tabled(table: str) -> Build:
    return one(slide_xml(frame("drawingml/2006/table", table)))


def cells(count: int) -> str:
    cell = f'<a:tc gridSpan="1000000000" rowSpan="9"><a:txBody>{paragraph("x")}</a:txBody></a:tc>'
    return f"<a:tbl><a:tr>{cell * count}</a:tr></a:tbl>"


READ: dict[str, tuple[Build, str]] = {
    "groups as deep as a parser goes": (one(nested(200)), "deep"),
    "layouts in a circle": (loops, "round"),
    "a cell over a thousand million": (tabled(cells(3)), "x | x"),
    "a table of many cells": (tabled(cells(5_000)), "x | x"),
    "many shapes": (one(slide_xml(shape("again", at=(1, 1, 1, 1)) * 1_000)), "again"),
    "many paragraphs": (one(slide_xml(shape(*["again"] * 4_000))), "again"),
    "a long paragraph": (one(slide_xml(shape("again " * 1_500_000))), "again"),
    "lengths without end": (
        one(slide_xml(shape("far").replace("<p:spPr>", "<p:spPr>" + box(1, 1, 1, 1).replace(
            'x="914400"', f'x="{"9" * 5000}"').replace('y="914400"', 'y="1e999"')))), "far",
    ),
    "numbers without end": (
        one(slide_xml(shape(paragraph("deep", f'<a:pPr lvl="{"9" * 5000}"><a:buAutoNum startAt="'
                                      f'{"9" * 5000}"/></a:pPr>')))), "1. deep",
    ),
    "points that are said to be many": (
        charted('<c:ser><c:val><c:numLit><c:ptCount val="4000000000"/><c:pt idx="99999">'
                '<c:v>7</c:v></c:pt><c:pt idx="1"><c:v>8</c:v></c:pt></c:numLit></c:val></c:ser>'),
        "8",
    ),
    "points that are many": (
        charted("<c:ser><c:val><c:numLit>" + "<c:pt><c:v>8</c:v></c:pt>" * 30_000
                + "</c:numLit></c:val></c:ser>"), "goes on",
    ),
    "a diagram in a circle": (
        drawn(f'<dgm:pt modelId="a"><dgm:t>{paragraph("round")}</dgm:t></dgm:pt>',
              '<dgm:cxn srcId="a" destId="a"/>' * 5_000), "round",
    ),
    "a diagram of one long line": (
        drawn("".join(f'<dgm:pt modelId="{n}"><dgm:t>{paragraph("on")}</dgm:t></dgm:pt>'
                      for n in range(4_000)),
              "".join(f'<dgm:cxn srcId="{n}" destId="{n + 1}"/>' for n in range(4_000))), "on",
    ),
    "a slide of footers": (
        one(slide_xml(placeholder("sldNum", "1", index=4) * 3_000)), "Slide number: 1",
    ),
    "a slide that is listed often": (named_often(200), "again"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
@pytest.mark.sampled(3)
def test_what_can_be_read_is(cell: Confined, tmp_path: Path, name: str) -> None:
    """It costs no more than it may, and its text is there."""
    build, words = READ[name]

    found = told(cell, tmp_path, build)

    assert {answer.kind for answer in found.values()} == {"returned"}, found
    assert words in found["read"].text


UNREADABLE: dict[str, tuple[Build, str]] = {
    "groups deeper than a parser goes": (one(nested(20_000)), "not valid XML"),
    "a million shapes": (one(slide_xml("<p:sp/>" * 1_000_001)), "elements"),
    "many empty shapes": (one(slide_xml("<p:sp/>" * 200_000)), "200,000 shapes"),
    "an attribute of ten million characters": (
        one(slide_xml(shape("x", more=f'name="{"n" * 10_500_000}"'))), "not valid XML",
    ),
    "relations without end": (
        lambda folder: deck(
            folder, [slide_xml()], named={0: '<a b=""/>' * 250_000}, is_packed=False
        ),
        "relations",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_slide_that_cannot_be_read_is_told(cell: Confined, tmp_path: Path, name: str) -> None:
    """The map lists it with the reason; it fills no memory."""
    build, words = UNREADABLE[name]

    found = told(cell, tmp_path, build)

    assert '"unreadable":true' in found["map"].text
    assert words in found["map"].text
    assert words in found["read"].text


REFUSED: dict[str, tuple[Build, str]] = {
    "ten thousand slides and one": (named_often(10_001), "over 10,000 slides"),
    "a main part of a million elements": (
        lambda folder: deck(
            folder,
            [],
            is_packed=False,
            parts={"ppt/presentation.xml": f"<a>{'<b/>' * 1_000_001}</a>"},
        ),
        "elements",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_deck_that_cannot_be_read_is_refused(cell: Confined, tmp_path: Path, name: str) -> None:
    """The whole is refused with its reason, at little cost."""
    build, words = REFUSED[name]

    refused(told(cell, tmp_path, build), words, 2 * MODEST_BYTES)


@pytest.mark.full
def test_many_large_slides_end(cell: Confined, tmp_path: Path) -> None:
    """Slides that are each within the limit are no way past it: the whole is stopped."""
    found = told(cell, tmp_path, one_large_often)

    assert "one by one" in found["map"].text


@pytest.mark.full
def test_many_slides_of_many_shapes_end(cell: Confined, tmp_path: Path) -> None:
    """The same of their shapes."""
    crowded = slide_xml("<p:sp/>" * 9_000)
    found = told(cell, tmp_path, lambda folder: deck(folder, [crowded] * 30, is_packed=False))

    assert "one by one" in found["map"].text


def one_large_often(folder: Path) -> Source:
    return deck(folder, [slide_xml(shape("<a:p/>" * 290_000))] * 40)
